// For those who write a table of keys: keys from member pointers, and the usual limits.
#pragma once

#include <string_view>
#include <type_traits>

#include "schema/schema.hpp"

namespace phaselock {

template <class T>
ValuePlace place_of(T& value) {
  if constexpr (std::is_enum_v<T>)
    return WordPlace{&value, [](const void* p) { return int(*static_cast<const T*>(p)); },
                     [](void* p, int word) { *static_cast<T*>(p) = T(word); }};
  else
    return &value;
}

/// A shared key: its value is the member of a Scenario along a path of member pointers.
template <auto... path>
constexpr Key key(std::string_view name, std::string_view help) {
  return {.path = name, .place = [](Scenario& scenario) { return place_of((scenario.*....*path)); }, .help = help};
}

template <class>
struct OwnerOf;
template <class Owner, class Value>
struct OwnerOf<Value Owner::*> {
  using type = Owner;
};

/// A key of one kind: its value is a member of that kind's struct, which the scenario holds (`own_keys`).
template <auto member>
constexpr Key own_key(std::string_view name, std::string_view help) {
  using Own = typename OwnerOf<decltype(member)>::type;
  return {.path = name, .place = [](Scenario& scenario) { return place_of(own_keys<Own>(scenario).*member); }, .help = help};
}

constexpr long double most = 1e9L, last_seed = 9223372036854775807.0L, last_time = 1e15L;
constexpr Limits sizes(long double low, long double high = most) { return {low, high}; }
constexpr Limits positive(long double high) { return {.low = 0, .high = high, .open_low = true}; }
constexpr Limits not_negative{.low = 0, .high = 1e6L}, above_zero{.low = 0, .open_low = true}, seeds{0, last_seed};

}  // namespace phaselock
