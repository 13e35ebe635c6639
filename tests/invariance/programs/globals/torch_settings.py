"""Settings of torch: threads, grad mode, default type, deterministic algorithms, backends and print options."""
import torch
import seen


def settings():
    return {
        "threads": torch.get_num_threads(), "between": torch.get_num_interop_threads(),
        "grad": torch.is_grad_enabled(), "dtype": torch.get_default_dtype(),
        "deterministic": torch.are_deterministic_algorithms_enabled(), "anomaly": torch.is_anomaly_enabled(),
        "warn": torch.is_warn_always_enabled(), "mkldnn": torch.backends.mkldnn.enabled,
        "cudnn": (torch.backends.cudnn.enabled, torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic),
        "matmul": torch.get_float32_matmul_precision(), "cuda": torch.cuda.is_initialized(),
        "print": vars(torch._tensor_str.PRINT_OPTS), "autocast": torch.is_autocast_enabled(),
        "jit": torch.jit._state._enabled.enabled, "sharing": torch.multiprocessing.get_sharing_strategy(),
        "distributed": torch.distributed.is_available() and torch.distributed.is_initialized(),
        "profiler": torch.autograd._profiler_enabled(),
    }


before = settings()
net = seen.small_net()
seen.train(net, 20)
print(before == settings(), settings(), seen.digest(net))
