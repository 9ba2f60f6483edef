package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.schema.Constant;
import java.util.List;

/// What the user wants to be probed, before any library has been looked at.
///
/// As text (the `--probe` option):
///
/// ```
/// LIBRARY:SYMBOL[(COLUMN=VALUE, ...)]               libfoo.so:my_call(bytes=arg2, stream=arg4, status=ret:s32)
/// usdt:LIBRARY:PROVIDER:NAME[(COLUMN=VALUE, ...)]   usdt:libc10_cuda.so:pytorch:malloc(addr=arg1, bytes=arg3)
/// torch_op:OPERATOR                                 torch_op:aten::conv*, see [OperatorProbe]
/// py_call:FUNCTION[(role=ROLE)]                     py_call:Trainer.*, py_call:PyObject_Call*, see [PythonProbe]
/// py_region                                         see [PythonRegions]
/// ```
///
/// - `LIBRARY` is a file name (`libfoo.so` also means `libfoo.so.1`), a glob (`libfoo*.so*`), an absolute path, a
///   program's name, or `exe` for the main executable of each process; see [LibrarySelector].
/// - `SYMBOL` is a function in its symbol tables, `name@VERSION` for one version of it, or a glob (`my_*`).
/// - `VALUE` is `argN` (1 to 12, integers and pointers) or `ret`, then what to follow and what it is:
///
/// | value | reads |
/// |---|---|
/// | `arg2` | the second argument, 8 bytes |
/// | `arg2:s32` | its lower 4 bytes, signed; also `u8 s8 u16 s16 u32 u64 s64` |
/// | `arg1:str` | the text of a `char *` |
/// | `arg2:stdstr` | the text of a `std::string` passed by reference |
/// | `arg1->24:u32` | 4 bytes at offset 24 of what `arg1` points to |
/// | `arg1->24->8:u32` | the same through a second pointer; three is the most |
/// | `*arg1:u32` | short for `arg1->0:u32` |
/// | `*arg1@ret:u64` | what the out-pointer `arg1` points to when the function returns |
/// | `arg2>>32:u32` | the upper half of a register that two values share |
/// | `arg3:u32{off,on}` | a text for each number: 0 is `off`, 1 is `on`, 2 stays `2` |
/// | `arg1->0->16:chars` | the text that lies there itself, not behind a pointer |
/// | `&arg7:hash`, `arg1:hash` | a hash of the 128 bytes of a struct on the stack, behind a pointer |
/// | `7`, `"text"` | a constant |
/// | `ret:s32`, `ret->16:u32` | the return value, what it points to |
///
/// - `COLUMN` is a column of the recording (`bytes`, `addr`, `fd`, ...) or a new one. `name=arg1:str` names the
///   event after a string argument, `name="forward"` gives it a fixed name.
/// - `role=ROLE` says which part of a step the call is, see [CallRole]: `libfoo.so:next_batch(role=data_wait)`.
/// - At most 12 integers at entry, 4 at return and 1 string per function. Floating-point arguments cannot be read.
public sealed interface ProbeSpec
        permits Function, UsdtProbe, OperatorProbe, PythonProbe, PythonRegions, CollectorProbe {
    /// The event kind of user-named probes.
    String CALL = "call";

    String kind();

    /// What its events are called, empty when that is not the same for all.
    default String name() {
        return "";
    }

    String library();

    default List<Capture> captures() {
        return List.of();
    }

    default List<Constant> constants() {
        return List.of();
    }

    /// Reads one `--probe` text; a [ProbeSyntaxException] points at what is wrong with it.
    static ProbeSpec parse(String text) {
        return new ProbeParser(text).probe();
    }
}
