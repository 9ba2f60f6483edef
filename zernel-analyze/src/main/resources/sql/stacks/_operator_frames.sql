-- What the innermost function of each stack does for operators of PyTorch, by its name: one row per stack.
--
-- Naive multiplication (`cpublas_gemm_impl`) is what PyTorch has for types that no library multiplies for it: float16
-- and bfloat16 on a CPU without instructions for them. Other loops over these types are as fast as over float32. What
-- oneDNN has no code of its own for it computes number by number, too (`dnnl::impl::cpu::ref_`): of PyTorch's types
-- these are the same, as gradients of convolutions in float16 were also on a CPU with instructions for it. Transposed
-- convolutions are not told by that: `ref_deconvolution` calls other code.
-- Code that oneDNN makes while it runs has no name, and its stacks end in the function of Python that called it: for
-- convolutions `_conv_forward`, in the backward pass `_engine_run_backward`, which do nothing else.
--
-- needs: _stack_frames
CREATE VIEW _operator_frames AS
WITH
    frames AS (
        SELECT
            id,
            function,
            file,
            native,
            regexp_matches(
                function,
                '^(mkl_|cblas_|dnnl|zendnn|Sleef_|[sdc]?gemm|_*(memmove|memcpy|memset))|\bat::native::|\bdnnl::|fbgemm'
            ) AS is_arithmetic
        FROM _stack_frames
        WHERE frame = 0
    )
SELECT
    frames.id, -- number of the stack
    coalesce(frames.native AND (frames.is_arithmetic OR _is_openmp(frames.file)), FALSE)
        AS computes, -- whether it is arithmetic, or waits for the pool of OpenMP
    coalesce(
        frames.native
            AND NOT frames.is_arithmetic
            AND NOT regexp_matches(frames.function, '^(gc_collect|visit_|deduce_unreachable)')
            AND (regexp_matches(frames.function, '\b(c10|torch|at)::')
                OR regexp_matches(frames.file, '^(libc10|lib(c|stdc\+\+)\.so|ld-|(lib)?python\d)')),
        FALSE
    ) AS surrounds, -- whether it is what surrounds that
    frames.function IS NULL
            OR NOT frames.native AND regexp_matches(frames.function, '(^|\.)(_conv_forward|_engine_run_backward)$')
        AS is_unnamed, -- whether it is in code that has no name: then it may be either
    frames.native AND _is_openmp(frames.file) AS waits, -- whether it waits for the pool of OpenMP
    surrounds OR NOT frames.native AND NOT is_unnamed AS is_around, -- whether it is around arithmetic, or in Python
    coalesce(regexp_matches(frames.function, '\bfill_kernel\b|^_*memset'), FALSE)
        AS fills, -- whether it fills memory with a number
    coalesce(
        regexp_matches(frames.function, '(^|_)d(gemm|gemv|axpy|dot)|\bdouble\b|^_ZN2at.*\d[a-z]\w*?IdE')
            AND NOT regexp_matches(frames.function, '\bfloat\b'),
        FALSE
    ) AS in_double, -- whether it computes in double precision
    coalesce(
        regexp_matches(frames.function, '\bat::')
            AND regexp_matches(frames.function, 'cpublas_gemm_impl'
                || '|(gemm|gemv|dot|unfolded).*c10::(BFloat16|Half)|(fp|bf)16_(gemv|dot|gemm)')
            OR regexp_matches(frames.function, '\bdnnl::impl::cpu::ref_(convolution|matmul|inner_product)'),
        FALSE
    ) AS in_half, -- whether it multiplies in half precision, float16 or bfloat16, number by number
    in_double OR in_half AS is_slow, -- whether it is in one of these
    frames.native AND frames.file LIKE 'libtorch%' AS of_torch, -- whether it is in a library of PyTorch
    coalesce(regexp_matches(frames.function, 'unfolded[23]d_|(vol2col|im2col)'), FALSE)
        AS unfolds -- whether it copies for a convolution that no library computes
FROM frames
