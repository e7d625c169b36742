#include "ascendcl/op_attr.h"

#include <memory>

#include "ascendcl/api.h"
#include "base/no_destroy.h"
#include "base/text.h"

using softnpu::api;
using softnpu::Handles;
using softnpu::op_attrs;
using softnpu::OpAttrValue;
using softnpu::require;
using softnpu::Status;

Handles<aclopAttr>& softnpu::op_attrs() {
  static NoDestroy<Handles<aclopAttr>> attrs("set of attributes");
  return attrs.get();
}

namespace {

// Sets the attribute to the result of `read`; replaces an earlier value of any type.
template <typename Read>
aclError set(const char* function, aclopAttr* handle, const char* name, Read&& read) {
  return api(function, [&]() -> Status {
    std::shared_ptr<aclopAttr> attr;
    SOFTNPU_RETURN_IF_ERROR(op_attrs().find(handle, &attr));
    SOFTNPU_RETURN_IF_ERROR(require(name, "attrName"));
    if (*name == '\0') return {ACL_ERROR_INVALID_PARAM, "the attribute's name is empty"};
    OpAttrValue value;
    SOFTNPU_RETURN_IF_ERROR(read(&value));
    attr->values.insert_or_assign(name, std::move(value));
    return Status::ok();
  });
}

template <typename T>
aclError set_value(const char* function, aclopAttr* handle, const char* name, T value) {
  return set(function, handle, name, [&](OpAttrValue* out) {
    *out = value;
    return Status::ok();
  });
}

template <typename T, typename U>
Status read_list(int count, const U* values, std::vector<T>* out) {
  if (count < 0) return {ACL_ERROR_INVALID_PARAM, softnpu::text("a list of ", count, " values")};
  if (count > 0) SOFTNPU_RETURN_IF_ERROR(require(values, "values"));
  out->assign(values, values + count);
  return Status::ok();
}

template <typename T, typename U>
aclError set_list(const char* function, aclopAttr* handle, const char* name, int count, const U* values) {
  return set(function, handle, name,
             [&](OpAttrValue* out) { return read_list(count, values, &out->emplace<std::vector<T>>()); });
}

}  // namespace

aclopAttr* aclopCreateAttr() {
  aclopAttr* result = nullptr;
  (void)api("aclopCreateAttr", [&] {
    result = op_attrs().add(std::make_shared<aclopAttr>());
    return Status::ok();
  });
  return result;
}

// Null is allowed, as for free().
void aclopDestroyAttr(const aclopAttr* attr) {
  if (attr == nullptr) return;
  (void)api("aclopDestroyAttr", [&] { return op_attrs().remove(attr); });
}

aclError aclopSetAttrBool(aclopAttr* attr, const char* attrName, uint8_t attrValue) {
  return set_value("aclopSetAttrBool", attr, attrName, attrValue != 0);
}

aclError aclopSetAttrInt(aclopAttr* attr, const char* attrName, int64_t attrValue) {
  return set_value("aclopSetAttrInt", attr, attrName, attrValue);
}

aclError aclopSetAttrFloat(aclopAttr* attr, const char* attrName, float attrValue) {
  return set_value("aclopSetAttrFloat", attr, attrName, attrValue);
}

aclError aclopSetAttrDataType(aclopAttr* attr, const char* attrName, aclDataType attrValue) {
  return set_value("aclopSetAttrDataType", attr, attrName, attrValue);
}

aclError aclopSetAttrString(aclopAttr* attr, const char* attrName, const char* attrValue) {
  return set("aclopSetAttrString", attr, attrName, [&](OpAttrValue* out) {
    SOFTNPU_RETURN_IF_ERROR(require(attrValue, "attrValue"));
    *out = std::string(attrValue);
    return Status::ok();
  });
}

aclError aclopSetAttrListDataType(aclopAttr* attr, const char* attrName, int numValues, const aclDataType values[]) {
  return set_list<aclDataType>("aclopSetAttrListDataType", attr, attrName, numValues, values);
}

aclError aclopSetAttrListBool(aclopAttr* attr, const char* attrName, int numValues, const uint8_t* values) {
  return set_list<bool>("aclopSetAttrListBool", attr, attrName, numValues, values);
}

aclError aclopSetAttrListInt(aclopAttr* attr, const char* attrName, int numValues, const int64_t* values) {
  return set_list<int64_t>("aclopSetAttrListInt", attr, attrName, numValues, values);
}

aclError aclopSetAttrListFloat(aclopAttr* attr, const char* attrName, int numValues, const float* values) {
  return set_list<float>("aclopSetAttrListFloat", attr, attrName, numValues, values);
}

aclError aclopSetAttrListString(aclopAttr* attr, const char* attrName, int numValues, const char** values) {
  return set("aclopSetAttrListString", attr, attrName, [&](OpAttrValue* out) {
    std::vector<const char*> texts;
    SOFTNPU_RETURN_IF_ERROR(read_list(numValues, values, &texts));
    for (const char* text : texts) SOFTNPU_RETURN_IF_ERROR(require(text, "a text of the list"));
    out->emplace<std::vector<std::string>>(texts.begin(), texts.end());
    return Status::ok();
  });
}

aclError aclopSetAttrListListInt(aclopAttr* attr, const char* attrName, int numLists, const int* numValues,
                                 const int64_t* const values[]) {
  return set("aclopSetAttrListListInt", attr, attrName, [&](OpAttrValue* out) {
    std::vector<int> counts;
    std::vector<const int64_t*> lists;
    SOFTNPU_RETURN_IF_ERROR(read_list(numLists, numValues, &counts));
    SOFTNPU_RETURN_IF_ERROR(read_list(numLists, values, &lists));
    auto& result = out->emplace<std::vector<std::vector<int64_t>>>(lists.size());
    for (size_t i = 0; i < lists.size(); ++i) SOFTNPU_RETURN_IF_ERROR(read_list(counts[i], lists[i], &result[i]));
    return Status::ok();
  });
}
