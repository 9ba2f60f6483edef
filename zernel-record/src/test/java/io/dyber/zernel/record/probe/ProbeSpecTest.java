package io.dyber.zernel.record.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.dyber.zernel.record.schema.Constant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ProbeSpecTest {
    @Test
    void readsArgumentsOfAFunction() {
        assertThat(ProbeSpec.parse("libfoo.so:my_call(bytes=arg2, stream=arg4)"))
                .isEqualTo(new Function("call", "", "libfoo.so", "my_call", List.of(
                        new Capture("bytes", Source.ARGUMENT, 2, List.of(), Width.U64, false),
                        new Capture("stream", Source.ARGUMENT, 4, List.of(), Width.U64, false))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"libc.so:malloc", "libc.so:malloc()", " libc.so : malloc ( ) "})
    void capturesAreOptional(String text) {
        assertThat(ProbeSpec.parse(text)).isEqualTo(new Function("call", "", "libc.so", "malloc", List.of()));
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '`', textBlock = """
            libfoo*.so*:my_*,                  libfoo*.so*,       my_*
            /opt/my lib/libfoo.so.1:my_call,   /opt/my lib/libfoo.so.1, my_call
            exe:main,                          exe,               main
            python3.11:PyObject_Call,          python3.11,        PyObject_Call
            libc.so:realpath@GLIBC_2.3,        libc.so,           realpath@GLIBC_2.3
            libcudart.so:cudaMalloc@@X,        libcudart.so,      cudaMalloc@@X
            libt.so:torch::autograd::run,      libt.so,           torch::autograd::run
            """)
    void splitsLibraryAndSymbol(String text, String library, String symbol) {
        assertThat(ProbeSpec.parse(text)).isEqualTo(new Function("call", "", library, symbol, List.of()));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            arg1               | ARGUMENT | 1  |      | U64    | false
            arg12:u8           | ARGUMENT | 12 |      | U8     | false
            arg3:s16           | ARGUMENT | 3  |      | S16    | false
            arg1 : str         | ARGUMENT | 1  |      | STR    | false
            arg2:stdstr        | ARGUMENT | 2  |      | STDSTR | false
            arg1->24:u64       | ARGUMENT | 1  | 24   | U64    | false
            arg1->0x18->8:u32  | ARGUMENT | 1  | 24 8 | U32    | false
            arg1 -> -8:s64     | ARGUMENT | 1  | -8   | S64    | false
            arg1->010          | ARGUMENT | 1  | 10   | U64    | false
            *arg1:u32          | ARGUMENT | 1  | 0    | U32    | false
            **arg1             | ARGUMENT | 1  | 0 0  | U64    | false
            *arg1->8:str       | ARGUMENT | 1  | 8 0  | STR    | false
            *arg1@ret          | ARGUMENT | 1  | 0    | U64    | true
            arg1->8@ret:u32    | ARGUMENT | 1  | 8    | U32    | true
            ret                | RETURN   | 0  |      | U64    | true
            ret:s32            | RETURN   | 0  |      | S32    | true
            ret->16:u16        | RETURN   | 0  | 16   | U16    | true
            """)
    void readsValues(String value, Source source, int argument, String offsets, Width width, boolean atReturn) {
        List<Integer> expected = offsets == null
                ? List.of()
                : List.of(offsets.split(" ")).stream().map(Integer::valueOf).toList();
        assertThat(ProbeSpec.parse("libfoo.so:f(v=" + value + ")").captures())
                .containsExactly(new Capture("v", source, argument, expected, width, atReturn));
    }

    @Test
    void namesTheEventAfterAnArgument() {
        assertThat(ProbeSpec.parse("libfoo.so:f(name=arg1:str)"))
                .isEqualTo(new Function("call", "", "libfoo.so", "f",
                        List.of(Capture.argument("name", 1, Width.STR))));
    }

    @Test
    void givesTheEventAFixedName() {
        assertThat(ProbeSpec.parse("libfoo.so:f(name=\"foo, (bar)\", fd=arg1:s32)"))
                .isEqualTo(new Function("call", "foo, (bar)", "libfoo.so", "f",
                        List.of(Capture.argument("fd", 1, Width.S32))));
    }

    @Test
    void readsATracepoint() {
        assertThat(ProbeSpec.parse("usdt:libc10_cuda.so:pytorch:malloc(addr=arg1, bytes=arg3, who=arg4->8:str)"))
                .isEqualTo(new UsdtProbe("call", "", "libc10_cuda.so", "pytorch", "malloc", List.of(
                        new Capture("addr", Source.ARGUMENT, 1, List.of(), Width.NATURAL, false),
                        new Capture("bytes", Source.ARGUMENT, 3, List.of(), Width.NATURAL, false),
                        new Capture("who", Source.ARGUMENT, 4, List.of(8), Width.STR, false))));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            ``                             | 0  | the library is missing
            my_call                        | 7  | no ':' between library and symbol
            libfoo.so:                     | 10 | the symbol is missing
            :my_call                       | 0  | the library is missing
            libfoo.so:my call              | 12 | a symbol cannot contain ' '
            libfoo.so:f)                   | 11 | a symbol cannot contain ')'
            libfoo.so:f(bytes=arg2         | 22 | expected ',' or ')' but found the end
            libfoo.so:f(bytes=arg2))       | 23 | the probe ends before ')'
            libfoo.so:f(bytes=arg2 fd=ret) | 23 | expected ',' or ')' but found 'f'
            libfoo.so:f(bytes)             | 17 | expected '=' after 'bytes' but found ')'
            libfoo.so:f(=arg1)             | 12 | expected a column but found '='
            libfoo.so:f(,)                 | 12 | expected a column but found ','
            libfoo.so:f(Bytes=arg1)        | 12 | 'Bytes' is not a column name
            libfoo.so:f(pid=arg1)          | 12 | column 'pid' is filled by the recorder itself
            libfoo.so:f(a=arg1,a=arg2)     | 19 | column 'a' is assigned twice
            libfoo.so:f(a=arg0)            | 14 | there is no arg0
            libfoo.so:f(a=arg13)           | 14 | there is no arg13
            libfoo.so:f(a=)                | 14 | expected a value but found ')'
            libfoo.so:f(a=rdi)             | 14 | 'rdi' is not a value
            libfoo.so:f(a=fp1)             | 14 | floating-point arguments cannot be read
            libfoo.so:f(a=xmm0)            | 14 | floating-point arguments cannot be read
            libfoo.so:f(a=arg1:double)     | 19 | floating-point values cannot be read
            libfoo.so:f(a=arg1:int)        | 19 | 'int' is not a type
            libfoo.so:f(a=arg1:)           | 19 | '' is not a type
            libfoo.so:f(a=arg1->x)         | 20 | expected an offset in bytes after '->'
            libfoo.so:f(a=arg1->1048577)   | 20 | offset 1048577 is beyond the first MiB
            libfoo.so:f(a=*arg1->8->8->8)  | 14 | 4 pointers to follow, and 3 is the most
            libfoo.so:f(a=&arg2:hash)      | 14 | only arguments on the stack have an address, and arg2 is in a register
            libfoo.so:f(a=arg2>>64:u32)    | 20 | expected 0 to 63 bits after '>>'
            libfoo.so:f(a=arg2:u32{)       | 23 | the labels are missing or have no closing '}'
            libfoo.so:f(a="")              | 14 | the text is empty or has no closing '"'
            libfoo.so:f(a=7x)              | 14 | '7x' is not a number
            libfoo.so:f(a=arg1@ret)        | 18 | the argument itself is the same at return as at entry
            libfoo.so:f(name=arg1)         | 21 | 'name' must be a string
            libfoo.so:f(name=ret:u64)      | 20 | 'name' must be a string
            libfoo.so:f(name="a)           | 12 | the name has no text or no closing '"'
            libfoo.so:f(a=arg1:str,b=arg2:str) | 23 | only one string per function can be captured
            usdt:libfoo.so:p               | 16 | no ':' between provider and name
            usdt:libfoo.so:p:n(a=ret)      | 21 | a tracepoint does not return
            usdt:libfoo.so:p:n(a=*arg1@ret)| 26 | a tracepoint does not return
            """)
    void pointsAtWhatIsWrong(String text, int position, String why) {
        ProbeSyntaxException error =
                catchThrowableOfType(ProbeSyntaxException.class, () -> ProbeSpec.parse(text));
        assertThat(error.why()).isEqualTo(why);
        assertThat(error.position()).isEqualTo(position);
    }

    @Test
    void messageShowsACaret() {
        assertThatThrownBy(() -> ProbeSpec.parse("libfoo.so:f(bytes=arg1:int)"))
                .hasMessage("""
                        reading probe 'libfoo.so:f(bytes=arg1:int)': 'int' is not a type
                          libfoo.so:f(bytes=arg1:int)
                                                 ^""");
    }

    @Test
    void hintNamesTheTypeThatWasMeant() {
        ProbeSyntaxException error = catchThrowableOfType(
                ProbeSyntaxException.class, () -> ProbeSpec.parse("libfoo.so:f(n=arg1:size_t)"));
        assertThat(error.hint()).isEqualTo("write u64");
    }

    @Test
    void twelveIntegersFourResultsAndAStringFit() {
        assertThat(ProbeSpec.parse("l.so:f(a=arg1,b=arg2,c=arg3,d=arg4,e=arg5,f=arg6,g=arg7,h=arg8,i=arg9,j=arg10,"
                        + "k=arg11,l=arg12,r=ret,r1=*arg1@ret,r2=arg1->8@ret,r3=arg1->16@ret,s=arg9:str)")
                        .captures())
                .hasSize(17);
    }

    @Test
    void aThirteenthIntegerDoesNot() {
        ProbeSyntaxException error = catchThrowableOfType(ProbeSyntaxException.class, () -> ProbeSpec.parse(
                "l.so:f(a=arg1,b=arg2,c=arg3,d=arg4,e=arg5,f=arg6,g=arg7,h=arg8,i=arg9,j=arg10,k=arg11,l=arg12,m=arg1)"));
        assertThat(error.why()).isEqualTo("at most 12 integers can be captured at entry");
        assertThat(error.position()).isEqualTo(94);
    }

    @Test
    void halvesLabelsHashesAndConstantsAreRead() {
        assertThat(ProbeSpec.parse(
                        "l.so:f(x=arg2>>32:u32, mode=arg3:u8{off, on}, id=&arg7:hash, key=arg1:hash, size=4, way=\"up\")"))
                .isEqualTo(new Function("call", "", "l.so", "f",
                        List.of(
                                new Capture("x", Source.ARGUMENT, 2, List.of(), Width.U32, false, 32, List.of()),
                                new Capture("mode", Source.ARGUMENT, 3, List.of(), Width.U8, false, 0, List.of("off", "on")),
                                new Capture("id", Source.STACK, 7, List.of(0), Width.HASH, false),
                                new Capture("key", Source.ARGUMENT, 1, List.of(0), Width.HASH, false)),
                        List.of(Constant.of("size", 4), Constant.of("way", "up"))));
    }

    @Test
    void aFunctionBuiltInCodeIsHeldToTheSameLimits() {
        List<Capture> strings =
                List.of(Capture.argument("a", 1, Width.STR), Capture.argument("b", 2, Width.STDSTR));
        assertThatThrownBy(() -> new Function("call", "", "l.so", "f", strings))
                .hasMessage("probing 'f': at most 12 integers at entry, 4 at return and 1 string per function can be captured");
    }

    @ParameterizedTest
    @ValueSource(strings = {"step", "data_wait", "compute", "sync", "collective", "optimizer", "checkpoint"})
    void aFunctionHasARoleInAStep(String role) {
        assertThat(ProbeSpec.parse("libfoo.so:f(bytes=arg1, role=" + role + ")"))
                .isEqualTo(new Function("call", "", "libfoo.so", "f",
                        List.of(new Capture("bytes", Source.ARGUMENT, 1, List.of(), Width.U64, false)),
                        List.of(Constant.of("role", role))));
        assertThat(ProbeSpec.parse("libfoo.so:f(role=\"" + role + "\")").constants())
                .containsExactly(Constant.of("role", role));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            libfoo.so:f(role=data_wat)              | 'data_wat' is no role               | did you mean data_wait?
            libfoo.so:f(role=x)                     | 'x' is no role                      | one of step, data_wait
            libfoo.so:f(role=arg1:str)              | 'arg1' is no role                   | one of step, data_wait
            libfoo.so:f(role=step, role=step)       | the role is given twice             |
            usdt:libfoo.so:p:n(role=data_wait)      | a moment, which can be role=step    | probe a function
            """)
    void aWrongRoleIsExplained(String text, String why, String hint) {
        ProbeSyntaxException error =
                catchThrowableOfType(ProbeSyntaxException.class, () -> ProbeSpec.parse(text));
        assertThat(error).hasMessageContaining(why);
        assertThat(error.hint()).contains(hint == null ? "" : hint);
    }

    @Test
    void aTracepointMayBeAStep() {
        assertThat(ProbeSpec.parse("usdt:libfoo.so:p:n(role=step)").constants())
                .containsExactly(Constant.of("role", "step"));
    }
}
