// Large pages for memory that is read in no order, or asked for anew again and again: each new page costs a search, or a fault.
#pragma once

#include <hwy/aligned_allocator.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace phaselock {

/// Asks the system for large pages where `count` numbers are to stand, before they are first touched.
inline void prefer_large_pages([[maybe_unused]] double* numbers, [[maybe_unused]] std::size_t count) {
#ifdef MADV_HUGEPAGE
  constexpr std::size_t page = 4096, large = 2 << 20;
  const std::size_t bytes = count * sizeof(double), into_page = reinterpret_cast<std::uintptr_t>(numbers) % page;
  if (bytes > 2 * large) madvise(reinterpret_cast<char*>(numbers) + (page - into_page) % page, bytes - page, MADV_HUGEPAGE);
#endif
}

/// Memory that stays from call to call; what is in it does not matter.
class KeptMemory {
 public:
  double* at_least(std::size_t count) {
    if (count > size_) {
      memory_ = hwy::AllocateAligned<double>(count);
      size_ = count;
      prefer_large_pages(memory_.get(), count);
    }
    return memory_.get();
  }

 private:
  std::size_t size_ = 0;
  hwy::AlignedFreeUniquePtr<double[]> memory_;
};

}  // namespace phaselock
