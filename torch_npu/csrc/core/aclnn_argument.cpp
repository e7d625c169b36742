#include "core/aclnn_argument.h"

#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "core/aclnn.h"
#include "core/format.h"

namespace torch_npu {
namespace {

// The functions that create and destroy one kind of object; null if the bound CANN has none.
template <typename Object, typename... Arguments>
struct Maker {
  Maker(const char* create_name, const char* destroy_name)
      : name(create_name),
        create(reinterpret_cast<Object* (*)(Arguments...)>(aclnn_symbol(create_name))),
        destroy(reinterpret_cast<aclnnStatus (*)(const Object*)>(aclnn_symbol(destroy_name))) {}

  bool available() const { return create != nullptr && destroy != nullptr; }

  Object* make(Arguments... arguments) const {
    TORCH_CHECK(available(), "libopapi.so of the bound CANN has no ", name);
    Object* result = create(arguments...);
    if (C10_UNLIKELY(result == nullptr)) aclnn_fail(name);
    return result;
  }

  const char* name;
  Object* (*create)(Arguments...);
  aclnnStatus (*destroy)(const Object*);
};

struct Makers {
  Maker<aclTensor, const int64_t*, uint64_t, aclDataType, const int64_t*, int64_t, aclFormat, const int64_t*, uint64_t,
        void*>
      tensor{"aclCreateTensor", "aclDestroyTensor"};
  // softnpu's aclCreateTensor for an existing descriptor. Null on other CANNs.
  using InitTensor = aclnnStatus (*)(aclTensor*, const int64_t*, uint64_t, aclDataType, const int64_t*, int64_t,
                                     aclFormat, const int64_t*, uint64_t, void*);
  InitTensor init_tensor = reinterpret_cast<InitTensor>(aclnn_symbol("softnpuInitTensor"));
  Maker<aclScalar, void*, aclDataType> scalar{"aclCreateScalar", "aclDestroyScalar"};
  Maker<aclIntArray, const int64_t*, uint64_t> int_array{"aclCreateIntArray", "aclDestroyIntArray"};
  Maker<aclFloatArray, const float*, uint64_t> float_array{"aclCreateFloatArray", "aclDestroyFloatArray"};
  Maker<aclBoolArray, const bool*, uint64_t> bool_array{"aclCreateBoolArray", "aclDestroyBoolArray"};
  Maker<aclTensorList, const aclTensor* const*, uint64_t> tensor_list{"aclCreateTensorList", "aclDestroyTensorList"};
  Maker<aclScalarList, const aclScalar* const*, uint64_t> scalar_list{"aclCreateScalarList", "aclDestroyScalarList"};
};

const Makers& makers() {
  static const Makers functions;
  return functions;
}

// The thread's cache of descriptors: reinitialising one takes half the time of creating it. Destroyed when the thread
// ends.
class SavedDescriptors {
 public:
  // Null if none is left.
  static aclTensor* take() {
    Saved& kept = kept_;
    return kept.count == 0 ? nullptr : kept.descriptors[--kept.count];
  }

  // False if the caller must destroy it.
  static bool keep(const aclTensor* descriptor) {
    Saved& kept = kept_;
    if (kept.count == kMax || !kept.is_open) {
      if (kept.count == kMax || kept.is_over || makers().init_tensor == nullptr) return false;
      static thread_local const Returner returner;
      kept.is_open = true;
    }
    kept.descriptors[kept.count++] = const_cast<aclTensor*>(descriptor);
    return true;
  }

 private:
  static constexpr uint8_t kMax = 8;
  struct Saved {
    std::array<aclTensor*, kMax> descriptors{};
    uint8_t count = 0;
    bool is_open = false;  // the cache is in use
    bool is_over = false;  // the thread is ending
  };
  struct Returner {
    ~Returner() {
      kept_.is_open = false;
      kept_.is_over = true;
      while (aclTensor* descriptor = take()) makers().tensor.destroy(descriptor);
    }
  };
  static thread_local constinit Saved kept_;
};
thread_local constinit SavedDescriptors::Saved SavedDescriptors::kept_;

aclTensor* make_tensor(const at::Tensor& tensor) {
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  const c10::StorageImpl* storage = impl->unsafe_storage().unsafeGetStorageImpl();
  void* data = const_cast<void*>(bytes_of(*storage, BytesLayout::kPlain));
  const auto storage_elements = static_cast<int64_t>(storage->nbytes() / impl->itemsize());
  const at::IntArrayRef sizes = impl->sizes();
  const aclDataType dtype = acl_data_type(tensor.scalar_type());
  const int64_t* strides = impl->strides().data();
  if (aclTensor* kept = SavedDescriptors::take()) {
    const aclnnStatus status = makers().init_tensor(kept, sizes.data(), sizes.size(), dtype, strides,
                                                    impl->storage_offset(), ACL_FORMAT_ND, &storage_elements, 1, data);
    if (C10_LIKELY(status == ACLNN_SUCCESS)) return kept;
    makers().tensor.destroy(kept);
    aclnn_fail("softnpuInitTensor");
  }
  return makers().tensor.make(sizes.data(), sizes.size(), dtype, strides, impl->storage_offset(), ACL_FORMAT_ND,
                              &storage_elements, 1, data);
}

// The integer 1, the scale of most additions; has the lifetime of the process.
std::atomic<const aclScalar*> shared_one{nullptr};
aclScalar* one() {
  static aclScalar* const result = [] {
    int64_t value = 1;
    aclScalar* scalar = makers().scalar.make(&value, ACL_INT64);
    shared_one.store(scalar, std::memory_order_relaxed);
    return scalar;
  }();
  return result;
}

aclScalar* make_own_scalar(const at::Scalar& scalar) {
  if (scalar.isBoolean()) {
    bool value = scalar.toBool();
    return makers().scalar.make(&value, ACL_BOOL);
  }
  if (scalar.isIntegral(false)) {
    int64_t value = scalar.toLong();
    return makers().scalar.make(&value, ACL_INT64);
  }
  if (scalar.isComplex()) {
    c10::complex<double> value = scalar.toComplexDouble();
    return makers().scalar.make(&value, ACL_COMPLEX128);
  }
  double value = scalar.toDouble();
  return makers().scalar.make(&value, ACL_DOUBLE);
}

aclScalar* make_scalar(const at::Scalar& scalar) {
  const bool is_one = scalar.isIntegral(false) && scalar.toLong() == 1;
  return is_one ? one() : make_own_scalar(scalar);
}

void destroy(const aclTensor* object) {
  if (!SavedDescriptors::keep(object)) makers().tensor.destroy(object);
}
void destroy(const aclScalar* object) {
  if (object != shared_one.load(std::memory_order_relaxed)) makers().scalar.destroy(object);
}
void destroy(const aclIntArray* object) { makers().int_array.destroy(object); }
void destroy(const aclFloatArray* object) { makers().float_array.destroy(object); }
void destroy(const aclBoolArray* object) { makers().bool_array.destroy(object); }
void destroy(const aclTensorList* object) { makers().tensor_list.destroy(object); }
void destroy(const aclScalarList* object) { makers().scalar_list.destroy(object); }

// A list owns its elements; until it is created this class owns them.
template <typename Element>
class Elements {
 public:
  Elements() = default;
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  ~Elements() {
    for (const Element* element : elements_) destroy(element);
  }
  void add(Element* element) { elements_.push_back(element); }

  template <typename Maker>
  auto* into_list(const Maker& maker) {
    auto* list = maker.make(elements_.data(), elements_.size());
    elements_.clear();
    return list;
  }

 private:
  c10::SmallVector<Element*, 8> elements_;
};

template <typename Tensors>
aclTensorList* make_tensor_list(const Tensors& tensors) {
  Elements<aclTensor> elements;
  for (const at::Tensor& tensor : tensors) elements.add(make_tensor(tensor));
  return elements.into_list(makers().tensor_list);
}

}  // namespace

bool has_acl_object(AclObject kind) {
  switch (kind) {
    case AclObject::kIntArray: return makers().int_array.available();
    case AclObject::kFloatArray: return makers().float_array.available();
    case AclObject::kBoolArray: return makers().bool_array.available();
    case AclObject::kTensorList: return makers().tensor_list.available();
    case AclObject::kScalarList: return makers().scalar_list.available();
  }
  return false;
}

aclDataType acl_data_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat: return ACL_FLOAT;
    case at::kHalf: return ACL_FLOAT16;
    case at::kBFloat16: return ACL_BF16;
    case at::kDouble: return ACL_DOUBLE;
    case at::kChar: return ACL_INT8;
    case at::kShort: return ACL_INT16;
    case at::kInt: return ACL_INT32;
    case at::kLong: return ACL_INT64;
    case at::kByte: return ACL_UINT8;
    case at::kUInt16: return ACL_UINT16;
    case at::kUInt32: return ACL_UINT32;
    case at::kUInt64: return ACL_UINT64;
    case at::kBool: return ACL_BOOL;
    case at::kComplexHalf: return ACL_COMPLEX32;
    case at::kComplexFloat: return ACL_COMPLEX64;
    case at::kComplexDouble: return ACL_COMPLEX128;
    case at::kFloat8_e5m2: return ACL_FLOAT8_E5M2;
    case at::kFloat8_e4m3fn: return ACL_FLOAT8_E4M3FN;
    case at::kFloat8_e8m0fnu: return ACL_FLOAT8_E8M0;
    default: return ACL_DT_UNDEFINED;
  }
}

template <typename Object>
AclOwned<Object>::~AclOwned() {
  if (object_ != nullptr) destroy(object_);
}
template class AclOwned<aclTensor>;
template class AclOwned<aclScalar>;
template class AclOwned<aclIntArray>;
template class AclOwned<aclFloatArray>;
template class AclOwned<aclBoolArray>;
template class AclOwned<aclTensorList>;
template class AclOwned<aclScalarList>;

AclText::AclText(std::string_view text) {
  TORCH_CHECK(text.size() < text_.size(), "'", text, "' is longer than the ", text_.size() - 1,
              " characters that an attribute of an aclnn operator may have here");
  std::copy(text.begin(), text.end(), text_.begin());
}

AclTensor acl_argument(const at::Tensor& tensor) { return AclTensor(tensor.defined() ? make_tensor(tensor) : nullptr); }

AclTensor acl_argument(const InStorageShape& argument) {
  if (!argument.tensor.defined() || !shows_all_blocks(argument.tensor)) return acl_argument(argument.tensor);
  return acl_argument(elements_of_blocked_storage(*own_storage(*argument.tensor.storage().unsafeGetStorageImpl())));
}

AclTensor acl_argument(const Int4Elements& argument) {
  constexpr int64_t kCount = 8;
  const at::Tensor& tensor = argument.tensor;
  if (!tensor.defined() || tensor.scalar_type() != at::kInt) return acl_argument(tensor);
  c10::SmallVector<int64_t, 8> sizes(tensor.sizes());
  c10::SmallVector<int64_t, 8> strides(tensor.strides());
  const auto packed = static_cast<std::size_t>(c10::maybe_wrap_dim(argument.packed, tensor.dim()));
  TORCH_CHECK(sizes[packed] == 1 || strides[packed] == 1, "a tensor of int32 with strides ", tensor.strides(),
              " has no neighbours along dimension ", packed, ", whose elements hold eight int4 each");
  for (int64_t& stride : strides) stride *= kCount;
  sizes[packed] *= kCount;
  strides[packed] = 1;
  const c10::StorageImpl* storage = tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
  const auto stored = static_cast<int64_t>(storage->nbytes() / sizeof(int32_t)) * kCount;
  return AclTensor(makers().tensor.make(sizes.data(), sizes.size(), ACL_INT4, strides.data(),
                                        tensor.storage_offset() * kCount, ACL_FORMAT_ND, &stored, 1,
                                        const_cast<void*>(bytes_of(*storage, BytesLayout::kPlain))));
}

AclTensor acl_argument(const DeviceElements& elements) {
  std::vector<int64_t> strides(elements.sizes.size(), 1);
  for (std::size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * elements.sizes[i];
  return AclTensor(makers().tensor.make(elements.sizes.data(), elements.sizes.size(), acl_data_type(elements.dtype),
                                        strides.data(), 0, elements.format, elements.storage_shape.data(),
                                        elements.storage_shape.size(), elements.data));
}

AclScalar acl_argument(const at::Scalar& scalar) { return AclScalar(make_scalar(scalar)); }

AclIntArray acl_argument(at::IntArrayRef values) {
  return AclIntArray(makers().int_array.make(values.data(), values.size()));
}

AclIntArray acl_argument(c10::SymIntArrayRef values) { return acl_argument(C10_AS_INTARRAYREF_SLOW(values)); }

AclFloatArray acl_argument(at::ArrayRef<double> values) {
  c10::SmallVector<float, 8> floats;
  for (double value : values) floats.push_back(static_cast<float>(value));
  return AclFloatArray(makers().float_array.make(floats.data(), floats.size()));
}

AclBoolArray acl_argument(at::ArrayRef<bool> values) {
  return AclBoolArray(makers().bool_array.make(values.data(), values.size()));
}

AclTensorList acl_argument(at::TensorList tensors) { return AclTensorList(make_tensor_list(tensors)); }
AclTensorList acl_argument(const at::ITensorListRef& tensors) { return AclTensorList(make_tensor_list(tensors)); }

AclScalarList acl_argument(at::ArrayRef<at::Scalar> scalars) {
  Elements<aclScalar> elements;
  for (const at::Scalar& scalar : scalars) elements.add(make_own_scalar(scalar));
  return AclScalarList(elements.into_list(makers().scalar_list));
}

}  // namespace torch_npu
