package io.dyber.zernel.record.event;

/// What a call tells about the job, beyond being an event.
public enum CallMeaning {
    NOTHING,
    /// The thread waits, perhaps in a call inside another that waits: their entries tell which.
    WAIT,
    /// Of CUDA: a kernel is launched.
    LAUNCH,
    /// A handle of a kernel gets its name, or stands for another handle's kernel.
    KERNEL_NAME,
    /// Device memory is handed out.
    ALLOCATION,
    /// Device memory is given back.
    RELEASE,
    /// The caching allocator of PyTorch hands out memory.
    TORCH_ALLOCATION,
    /// The caching allocator of PyTorch gets memory back.
    TORCH_RELEASE,
    /// The calling thread's device changes.
    CURRENT_DEVICE,
    /// Memory is copied, perhaps from or to the host's.
    COPY,
    /// Host memory becomes page-locked.
    PIN,
    /// Host memory is no longer page-locked.
    UNPIN,
    /// The launches of a stream go into a graph from here on.
    CAPTURE_BEGIN,
    /// A graph has been captured.
    CAPTURE_END,
    /// An executable graph is made of a graph.
    INSTANTIATION,
    /// An executable graph is launched.
    GRAPH_LAUNCH,
    /// Of NCCL: a communicator appears.
    COMMUNICATOR,
    /// Several communicators of one process appear, in an array.
    COMMUNICATORS,
    /// A communicator is derived from another.
    CHILD_COMMUNICATOR,
    /// A communicator's rank becomes known.
    RANK,
    /// A communicator's size becomes known.
    RANKS,
    /// A communicator ends.
    END_OF_COMMUNICATOR,
    /// A collective, send or receive.
    COLLECTIVE,
    /// A group of operations begins or ends.
    GROUP_BEGIN,
    GROUP_END,
    /// Of Python: a function is called.
    PYTHON_CALL,
    /// The garbage collector is asked to run.
    COLLECTION_ASKED,
    /// It begins.
    COLLECTION_BEGIN,
    /// It has ended.
    COLLECTION_END,
    /// It has ended, and has looked through all objects.
    FULL_COLLECTION_END
}
