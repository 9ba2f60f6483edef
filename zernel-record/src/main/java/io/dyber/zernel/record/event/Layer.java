package io.dyber.zernel.record.event;

import java.util.Locale;

/// Where of the layers of CUDA a call is made: a call of the runtime makes one of the driver, and both are one operation.
public enum Layer {
    /// In none of them.
    NONE,
    /// The CUDA runtime. A call is a row unless a call of the same kind inside it is one.
    RUNTIME,
    /// The CUDA driver.
    DRIVER;

    /// As a footer calls it.
    public String title() {
        return name().toLowerCase(Locale.ROOT);
    }
}
