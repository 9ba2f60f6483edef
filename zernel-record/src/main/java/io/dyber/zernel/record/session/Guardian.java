package io.dyber.zernel.record.session;

import io.dyber.zernel.record.option.RecorderException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/// A process that outlives the recorder if that is killed, and then lets go on what the recorder was holding. It hears of
/// the command and of held processes through a pipe, whose end tells it that the recorder has died.
///
/// Not thread-safe.
final class Guardian implements AutoCloseable {
    /// It ignores what a terminal sends to all. Without an "end", it continues what it was told of, and what is stopped among
    /// the command and its descendants: more than once, because the programs of a dying recorder may stop one more.
    private static final String SCRIPT = """
            trap '' INT QUIT TERM HUP TSTP TTIN TTOU
            root= told=' '
            while read -r word pid; do
                case $word in
                    root) root=$pid ;;
                    hold) told="$told$pid " ;;
                    free) told="${told% $pid *} ${told#* $pid }" ;;
                    end) exit 0 ;;
                esac
            done
            for pause in 0 0.2 1; do
                sleep $pause
                family=" $root " before=
                while [ "$family" != "$before" ]; do
                    before=$family
                    for stat in /proc/[0-9]*/stat; do
                        read -r line 2> /dev/null < "$stat" || continue
                        pid=${line%% *}
                        set -f
                        set -- ${line##*)}
                        set +f
                        case $family in
                            *" $pid "*) ;;
                            *" $2 "*) family="$family$pid " ;;
                        esac
                        case $family in
                            *" $pid "*) [ "$1" = T ] && kill -CONT "$pid" ;;
                        esac
                    done
                done
                for pid in $told; do
                    kill -CONT "$pid"
                done
            done 2> /dev/null
            """;

    private final Process process;
    private final OutputStream pipe;

    private Guardian(Process process) {
        this.process = process;
        this.pipe = process.getOutputStream();
    }

    static Guardian start() {
        try {
            ProcessBuilder builder = new ProcessBuilder("/bin/sh", "-c", SCRIPT, "zernel-guardian")
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD);
            builder.environment().clear();
            builder.environment().put("PATH", "/usr/bin:/bin");
            return new Guardian(builder.start());
        } catch (IOException e) {
            throw new RecorderException("starting /bin/sh: " + e.getMessage(), "without --hold none is needed");
        }
    }

    /// The command; what it starts is looked after too.
    void guard(int pid) {
        say("root " + pid);
    }

    void held(int pid) {
        say("hold " + pid);
    }

    void freed(int pid) {
        say("free " + pid);
    }

    private void say(String line) {
        try {
            pipe.write((line + "\n").getBytes(StandardCharsets.UTF_8));
            pipe.flush();
        } catch (IOException e) {
            System.getLogger(Guardian.class.getName()).log(System.Logger.Level.DEBUG, "telling the guardian", e);
        }
    }

    @Override
    public void close() {
        say("end");
        try {
            pipe.close();
        } catch (IOException _) {
            process.destroy();
        }
    }
}
