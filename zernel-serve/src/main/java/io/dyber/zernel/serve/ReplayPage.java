package io.dyber.zernel.serve;

import io.dyber.zernel.serve.http.HttpEndpoint.Answer;
import io.dyber.zernel.serve.http.HttpEndpoint;
import io.dyber.zernel.serve.source.EventSource;
import io.dyber.zernel.serve.source.Playback;
import io.dyber.zernel.serve.source.Speed;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// `/api/replay`: a GET says where the replay is; a POST of any of `{"paused": true, "speed": "10x",
/// "position_s": 12.5}` changes it and says the same.
final class ReplayPage implements HttpEndpoint.Page {
    private static final JsonMapper JSON = new JsonMapper();

    private final EventSource source;

    ReplayPage(EventSource source) {
        this.source = source;
    }

    @Override
    public boolean takesPost() {
        return true;
    }

    @Override
    public Answer answer(HttpEndpoint.Asked asked) {
        Optional<Playback> playback = source.playback();
        if (playback.isEmpty()) {
            return error(409, "this is no replay: it goes on as the recorded job does");
        }
        if (asked.method().equals("POST")) {
            try {
                control(playback.get(), JSON.readTree(asked.body()));
            } catch (JacksonException _) {
                return error(400, "the body is not JSON");
            } catch (IllegalArgumentException e) {
                return error(400, String.valueOf(e.getMessage()));
            }
        }
        return Answer.json(200, Snapshots.json(playback.get().status()));
    }

    private static void control(Playback playback, JsonNode wanted) {
        for (String name : wanted.propertyNames()) {
            if (!name.matches("paused|speed|position_s")) {
                throw new IllegalArgumentException("no such field '" + name + "': there are paused, speed, position_s");
            }
        }
        JsonNode paused = wanted.path("paused");
        JsonNode position = wanted.path("position_s");
        if (!paused.isMissingNode() && !paused.isBoolean()) {
            throw new IllegalArgumentException("paused is true or false");
        }
        if (!position.isMissingNode() && !position.isNumber()) {
            throw new IllegalArgumentException("position_s is a number of seconds");
        }
        Optional<Speed> speed = wanted.path("speed").isMissingNode()
                ? Optional.empty()
                : Optional.of(Speed.parse(wanted.path("speed").asString("")));
        speed.ifPresent(playback::speed);
        if (paused.isBoolean()) {
            playback.pause(paused.booleanValue());
        }
        if (position.isNumber()) {
            playback.seek((long) (position.doubleValue() * 1e9));
        }
    }

    private static Answer error(int status, String why) {
        return Answer.json(status, JSON.writeValueAsString(JSON.createObjectNode().put("error", why)));
    }
}
