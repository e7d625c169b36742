#include "ascendc/launch/trap.h"

#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <iterator>

namespace softnpu::kernel {
namespace {

constexpr std::array kFaults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr size_t kStackBytes = 64 << 10;

int stop_signal() { return SIGRTMIN + 7; }

// A kernel's run on this thread.
struct Trap {
  sigjmp_buf leave;
  uintptr_t code_begin;  // the instructions of the kernel's library
  uintptr_t code_end;
  int signal;
  int reason;  // si_code
  uintptr_t address;
  bool is_stack;  // the fault was at the stack's end
};

constinit thread_local Trap* trap __attribute__((tls_model("initial-exec"))) = nullptr;

// What was installed before, by signal. Written before the trap's handlers are installed.
struct sigaction previous[65];

uintptr_t register_of(const ucontext_t* context, bool is_stack_pointer) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(context->uc_mcontext.gregs[is_stack_pointer ? REG_RSP : REG_RIP]);
#elif defined(__aarch64__)
  return is_stack_pointer ? context->uc_mcontext.sp : context->uc_mcontext.pc;
#else
#error "which registers hold the stack pointer and the program counter?"
#endif
}

// What the signal does without the trap.
void chain(int signal, siginfo_t* info, void* context) {
  const struct sigaction& before = previous[signal];
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler == SIG_IGN) return;
  if (before.sa_handler != SIG_DFL) return before.sa_handler(signal);
  struct sigaction otherwise {};
  otherwise.sa_handler = SIG_DFL;
  sigaction(signal, &otherwise, nullptr);
  // A fault happens again when the handler returns; others were sent.
  if (info->si_code <= 0 || signal == SIGABRT) raise(signal);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  Trap* here = trap;
  if (here == nullptr) return chain(signal, info, context);
  trap = nullptr;
  here->signal = signal;
  here->reason = info->si_code;
  here->address = reinterpret_cast<uintptr_t>(info->si_addr);
  const uintptr_t stack = register_of(static_cast<const ucontext_t*>(context), true);
  constexpr uintptr_t kNear = 64 << 10;  // the longest jump over a guard page that is taken for one
  here->is_stack = signal == SIGSEGV && here->address + kNear > stack && here->address < stack + kNear;
  siglongjmp(here->leave, 1);
}

void on_stop(int signal, siginfo_t*, void* context) {
  Trap* here = trap;
  if (here == nullptr) return;
  const uintptr_t at = register_of(static_cast<const ucontext_t*>(context), false);
  if (at < here->code_begin || at >= here->code_end) return;  // in a library, which may hold a lock
  trap = nullptr;
  here->signal = signal;
  siglongjmp(here->leave, 1);
}

struct Library {
  uintptr_t address;
  uintptr_t begin;
  uintptr_t end;
};

// The executable segment that has library->address.
int find_segment(dl_phdr_info* info, size_t, void* context) {
  auto* library = static_cast<Library*>(context);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (library->address < begin || library->address >= begin + segment.p_memsz) continue;
    library->begin = begin;
    library->end = begin + segment.p_memsz;
    return 1;
  }
  return 0;
}

// Kept for the thread's next block, which is most often of the same kernel.
const Library& library_of(const void* code) {
  static thread_local Library last{};
  const auto address = reinterpret_cast<uintptr_t>(code);
  if (last.address != address) {
    last = {address, 0, 0};
    dl_iterate_phdr(&find_segment, &last);
  }
  return last;
}

std::string describe(const Trap& trapped) {
  char address[32];
  std::snprintf(address, sizeof(address), "0x%zx", trapped.address);
  switch (trapped.signal) {
    case SIGSEGV:
      if (trapped.is_stack) return "stack overflow (SIGSEGV)";
      // The processor does not say which address it was.
      if (trapped.reason == SI_KERNEL) return "SIGSEGV: no memory for this access at an address of more than 47 bits";
      return std::string("SIGSEGV: no memory for this access at ") + address;
    case SIGBUS: return std::string("SIGBUS at ") + address;
    case SIGFPE: return trapped.reason == FPE_INTDIV ? "SIGFPE: integer division by zero" : "SIGFPE";
    case SIGILL: return "SIGILL: an instruction that this processor does not have";
    case SIGABRT: return "SIGABRT: abort() was called";
    default: return "stopped";
  }
}

bool install() {
  struct sigaction action {};
  sigemptyset(&action.sa_mask);
  // Not blocked: the handler does not return.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  action.sa_sigaction = &on_fault;
  bool is_ok = true;
  for (const int signal : kFaults) {
    is_ok = sigaction(signal, nullptr, &previous[signal]) == 0 && sigaction(signal, &action, nullptr) == 0 && is_ok;
  }
  action.sa_sigaction = &on_stop;
  action.sa_flags |= SA_RESTART;
  return sigaction(stop_signal(), &action, nullptr) == 0 && is_ok;
}

}  // namespace

bool install_trap() {
  static const bool is_installed = install();
  return is_installed;
}

TrapStack::TrapStack()
    : memory_(mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
  if (memory_ == MAP_FAILED) return;  // without it a stack overflow ends the process
  stack_t stack{};
  stack.ss_sp = memory_;
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, nullptr);
}

TrapStack::~TrapStack() {
  if (memory_ == MAP_FAILED) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
  munmap(memory_, kStackBytes);
}

std::string run_trapped(const void* code, TrappedCall call, void* context) {
  const Library& library = library_of(code);
  Trap here{};
  here.code_begin = library.begin;
  here.code_end = library.end;
  if (sigsetjmp(here.leave, 0) == 0) {
    trap = &here;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    call(context);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    trap = nullptr;
    return {};
  }
  return describe(here);
}

void stop_trapped(pid_t thread) { syscall(SYS_tgkill, getpid(), thread, stop_signal()); }

}  // namespace softnpu::kernel
