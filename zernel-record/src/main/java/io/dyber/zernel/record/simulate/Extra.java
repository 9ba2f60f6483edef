package io.dyber.zernel.record.simulate;

/// A value beside the core columns: a `Long` or a `String`.
record Extra(String column, Object value) {
    static Extra fd(long fd) {
        return new Extra("fd", fd);
    }

    static Extra bytes(long bytes) {
        return new Extra("bytes", bytes);
    }

    static Extra status(long status) {
        return new Extra("status", status);
    }

    static Extra addr(long addr) {
        return new Extra("addr", addr);
    }
}
