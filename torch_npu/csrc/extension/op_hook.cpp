#include "core/op_hooks.h"
#include "torch_npu/csrc/framework/OpHook.h"

namespace at_npu::native {

namespace hooks = torch_npu::op_hooks;

void RegisterOpHookBeginFn(BeginFn hook) { hooks::set_begin(hook); }
void RegisterOpHookPreFn(PreFn hook) { hooks::set_before(hook); }
void RegisterOpHookPostFn(PostFn hook) { hooks::set_after(hook); }
void RegisterOpHookEndFn(EndFn hook) { hooks::set_end(hook); }

}  // namespace at_npu::native
