#pragma once
// How packed weights are laid out, in the terms of the kernel that reads them.

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>

namespace softnpu {

// A copy of some kernel's description. Two are equal if they are of one type, and equal in it.
class PackedLayout {
 public:
  // Of no weights.
  PackedLayout() = default;

  // `layout` takes `bytes`.
  template <std::equality_comparable Layout>
  PackedLayout(size_t bytes, Layout layout)
      : bytes_(bytes), layout_(std::make_shared<const Of<Layout>>(std::move(layout))) {}

  size_t bytes() const { return bytes_; }

  friend bool operator==(const PackedLayout& x, const PackedLayout& y) {
    if (x.layout_ == nullptr || y.layout_ == nullptr) return x.layout_ == y.layout_;
    return x.bytes_ == y.bytes_ && x.layout_->equals(*y.layout_);
  }

 private:
  struct Any {
    virtual ~Any() = default;
    virtual bool equals(const Any& other) const = 0;
  };
  template <typename Layout>
  struct Of final : Any {
    explicit Of(Layout layout) : value(std::move(layout)) {}
    bool equals(const Any& other) const override {
      const auto* same = dynamic_cast<const Of*>(&other);
      return same != nullptr && value == same->value;
    }
    Layout value;
  };

  size_t bytes_ = 0;
  std::shared_ptr<const Any> layout_;
};

}  // namespace softnpu
