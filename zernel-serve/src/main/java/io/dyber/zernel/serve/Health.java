package io.dyber.zernel.serve;

import io.dyber.zernel.serve.http.HttpEndpoint;
import java.util.List;
import java.util.function.Supplier;

/// Says `ok`, or with status 503 which parts of the server no longer work. It is for everybody, as what starts a server
/// again knows no token, and so holds nothing of a recording.
record Health(List<Part> parts) implements HttpEndpoint.Page {
    /// @param trouble what is wrong with it; empty when nothing is
    record Part(String name, Supplier<String> trouble) {
        static Part working(String name, Supplier<Boolean> works, String trouble) {
            return new Part(name, () -> works.get() ? "" : trouble);
        }
    }

    Health {
        parts = List.copyOf(parts);
    }

    @Override
    public HttpEndpoint.Answer answer(HttpEndpoint.Asked asked) {
        StringBuilder troubles = new StringBuilder();
        for (Part part : parts) {
            String trouble = part.trouble().get();
            if (!trouble.isEmpty()) {
                troubles.append(part.name()).append(": ").append(trouble).append('\n');
            }
        }
        return troubles.isEmpty()
                ? HttpEndpoint.Answer.text(200, "ok")
                : HttpEndpoint.Answer.text(503, troubles.toString());
    }

    @Override
    public boolean isPublic() {
        return true;
    }
}
