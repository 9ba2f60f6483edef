/// What the NVIDIA driver knows about its GPUs and the processes on them, asked through NVML.
@org.jspecify.annotations.NullMarked
package io.dyber.zernel.record.nvml;
