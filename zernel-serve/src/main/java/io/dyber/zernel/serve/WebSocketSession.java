package io.dyber.zernel.serve;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.websocket.core.CloseStatus;
import org.eclipse.jetty.websocket.core.CoreSession;
import org.eclipse.jetty.websocket.core.Frame;
import org.eclipse.jetty.websocket.core.FrameHandler;
import org.eclipse.jetty.websocket.core.OpCode;
import org.eclipse.jetty.websocket.core.exception.MessageTooLargeException;
import org.jspecify.annotations.Nullable;

/// One client of the feed: what it is sent, and what it missed. What it says itself is not listened to.
final class WebSocketSession implements FrameHandler {
    /// Snapshots in a row a client may miss before it is sent away.
    private static final int MISSES = 60;

    /// Bytes that a client may send in one message.
    static final int LARGEST_MESSAGE = 4096;

    private final Set<WebSocketSession> all;
    private final Supplier<String> latest;
    private final AtomicBoolean sending = new AtomicBoolean();
    private volatile @Nullable CoreSession core;
    private volatile boolean heard = true;

    /// Touched by the publishing thread alone.
    private int missed;

    /// What has come of a message; touched where frames come in, one after the other.
    private int received;

    /// @param all those that are open; it is one of them while it is
    /// @param latest the snapshot that a new client gets at once; empty where there is none yet
    WebSocketSession(Set<WebSocketSession> all, Supplier<String> latest) {
        this.all = all;
        this.latest = latest;
    }

    /// Sends a snapshot, or counts it as missed where the one before is still on its way.
    ///
    /// @param bytes the same in UTF-8
    void offer(String json, ByteBuffer bytes) {
        CoreSession session = core;
        if (session == null) {
            return;
        }
        if (sending.get()) {
            missed++;
            if (missed >= MISSES) {
                session.abort();
            }
        } else if (missed > 0) {
            send(session, encoded(withMissed(json, missed)));
            missed = 0;
        } else {
            send(session, bytes);
        }
    }

    /// Asks the client whether it is there, and ends the connection to one that has not said a word since it was asked last.
    void ping() {
        CoreSession session = core;
        if (session == null) {
            return;
        }
        if (heard) {
            heard = false;
            session.sendFrame(new Frame(OpCode.PING), Callback.NOOP, false);
        } else {
            session.abort();
        }
    }

    /// Says goodbye.
    void end(int code, String why) {
        CoreSession session = core;
        if (session != null) {
            session.close(code, why, Callback.NOOP);
        }
    }

    @Override
    public void onOpen(CoreSession session, Callback callback) {
        core = session;
        all.add(this);
        callback.succeeded();
        String now = latest.get();
        if (!now.isEmpty()) {
            send(session, encoded(now));
        }
        session.demand();
    }

    @Override
    public void onFrame(Frame frame, Callback callback) {
        heard = true;
        CoreSession session = core;
        if (session == null || frame.getOpCode() == OpCode.CLOSE) {
            callback.succeeded();
        } else if (frame.getOpCode() == OpCode.PING) {
            // The next frame is read when this is answered, or who pings and does not read would fill the memory.
            Frame pong = new Frame(OpCode.PONG, BufferUtil.copy(frame.getPayload()));
            callback.succeeded();
            session.sendFrame(pong, Callback.from(session::demand, _ -> {}), false);
        } else if (frame.isDataFrame() && isTooLarge(frame)) {
            callback.failed(new MessageTooLargeException("more than " + LARGEST_MESSAGE + " bytes"));
        } else {
            callback.succeeded();
            session.demand();
        }
    }

    private boolean isTooLarge(Frame frame) {
        int message = received + frame.getPayloadLength();
        received = frame.isFin() ? 0 : message;
        return message > LARGEST_MESSAGE;
    }

    @Override
    public void onError(Throwable cause, Callback callback) {
        callback.succeeded();
    }

    @Override
    public void onClosed(CloseStatus status, Callback callback) {
        all.remove(this);
        callback.succeeded();
    }

    private void send(CoreSession session, ByteBuffer text) {
        if (sending.compareAndSet(false, true)) {
            session.sendFrame(
                    new Frame(OpCode.TEXT, text),
                    Callback.from(() -> sending.set(false), _ -> sending.set(false)),
                    false);
        }
    }

    private static ByteBuffer encoded(String json) {
        return ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8));
    }

    private static String withMissed(String json, int missed) {
        return json.substring(0, json.lastIndexOf('}')) + ",\"skipped_snapshots\":" + missed + "}";
    }
}
