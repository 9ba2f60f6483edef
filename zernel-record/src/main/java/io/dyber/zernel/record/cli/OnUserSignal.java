package io.dyber.zernel.record.cli;

import java.lang.reflect.Proxy;

/// SIGUSR1: an action while the recording goes on.
final class OnUserSignal {
    private OnUserSignal() {}

    /// Runs the action at each SIGUSR1 from now on, on a thread of the JVM.
    ///
    /// `sun.misc.Signal` by name: javac warns of it, cannot be told not to, and a warning is an error here.
    static void install(Runnable action) {
        try {
            Class<?> signal = Class.forName("sun.misc.Signal");
            Class<?> handler = Class.forName("sun.misc.SignalHandler");
            Object onSignal = Proxy.newProxyInstance(
                    handler.getClassLoader(), new Class<?>[] {handler}, (_, _, _) -> {
                        action.run();
                        return null;
                    });
            Object _ = signal.getMethod("handle", signal, handler)
                    .invoke(null, signal.getConstructor(String.class).newInstance("USR1"), onSignal);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("listening for SIGUSR1", e);
        }
    }
}
