#include "loss/context_loss.hpp"

namespace phaselock {

template Query query_at(const Model&, const ContextGates&, int, int);
template double context_loss(const Model&, const ContextGates&, ContextGates*);

}  // namespace phaselock
