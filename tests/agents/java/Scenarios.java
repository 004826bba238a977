// The agent in Java of ../../scenarios/play.py, which lists its commands.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.leafid.ClaimRequest;
import io.leafid.Fetch;
import io.leafid.LeafidException;
import io.leafid.Lease;
import io.leafid.Renewal;
import io.leafid.Segment;
import io.leafid.Segments;
import io.leafid.Snowflake;
import io.leafid.Tag;
import io.leafid.TagStats;
import io.leafid.WorkerLeases;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.LongStream;

public final class Scenarios {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, Object> OPENED = new ConcurrentHashMap<>();
    private static final Map<Long, CompletableFuture<JsonNode>> ASKED = new ConcurrentHashMap<>();
    private static final Map<String, CompletableFuture<long[]>> TAKES = new ConcurrentHashMap<>();
    private static final AtomicLong CALLS = new AtomicLong();
    private static final ExecutorService THREADS = Executors.newCachedThreadPool();
    private static final Logger LOG = Logger.getLogger("io.leafid");

    private static synchronized void say(ObjectNode message) {
        System.out.println(message);
        System.out.flush();
    }

    private static ObjectNode is(String word) {
        return JSON.createObjectNode().put("is", word);
    }

    /** Answered by the player. */
    private static JsonNode ask(String handle, String asks, ObjectNode sent) throws Exception {
        long call = CALLS.incrementAndGet();
        CompletableFuture<JsonNode> given = new CompletableFuture<>();
        ASKED.put(call, given);
        ObjectNode message = is("asks").put("call", call).put("handle", handle).put("asks", asks);
        message.set("sent", sent);
        say(message);
        JsonNode answer = given.join();
        if (answer.hasNonNull("fails")) throw new IllegalStateException(answer.get("fails").asText());
        if (answer.hasNonNull("code")) throw error(answer);
        return answer.hasNonNull("gives") ? answer.get("gives") : null;
    }

    /** An error of leafid as a user's object gets and throws it: from a call that fails so. */
    private static LeafidException error(JsonNode answer) throws Exception {
        var made = LeafidException.class.getDeclaredConstructor(String.class, String.class, boolean.class);
        made.setAccessible(true);
        return made.newInstance(answer.get("code").asText(), answer.path("text").asText(), false);
    }

    private static Fetch fetch(String handle) {
        return (tag, step, after) -> {
            JsonNode gives = ask(handle, "fetch", JSON.createObjectNode().put("tag", tag).put("step", step).put("after", after));
            if (gives == null) return null;
            return new Segment(gives.path("start").asLong(), gives.path("end").asLong(), gives.path("stride").asLong(1));
        };
    }

    private static Long number(JsonNode gives, String name) {
        return gives.hasNonNull(name) ? gives.get(name).asLong() : null;
    }

    private static ObjectNode sent(Lease lease, long untilMs) {
        return JSON.createObjectNode().put("worker_id", lease.workerId()).put("token", lease.token()).put("until_ms", untilMs);
    }

    private static long[] numbers(JsonNode gives) {
        long[] numbers = new long[gives == null ? 0 : gives.size()];
        for (int at = 0; at < numbers.length; at++) numbers[at] = gives.get(at).asLong();
        return numbers;
    }

    private static WorkerLeases leases(String handle) {
        return new WorkerLeases() {
            @Override
            public Lease claim(ClaimRequest request) throws Exception {
                JsonNode gives = ask(handle, "claim", JSON.createObjectNode().put("name", request.name())
                        .put("previous", request.previous()).put("now_ms", request.nowMs()).put("until_ms", request.untilMs()));
                if (gives == null) return null;
                String token = gives.hasNonNull("token") ? gives.get("token").asText() : null;
                return new Lease(gives.get("worker_id").asLong(), gives.path("from_ms").asLong(), gives.path("until_ms").asLong(),
                        number(gives, "lease_ms"), token, numbers(gives.get("peer_times_ms")));
            }

            @Override
            public Renewal renew(Lease lease, long untilMs) throws Exception {
                JsonNode gives = ask(handle, "renew", sent(lease, untilMs));
                if (gives == null) return null;
                String token = gives.hasNonNull("token") ? gives.get("token").asText() : null;
                return new Renewal(gives.path("until_ms").asLong(), number(gives, "lease_ms"), token);
            }

            @Override
            public void release(Lease lease, long untilMs) throws Exception {
                ask(handle, "release", sent(lease, untilMs));
            }
        };
    }

    private static String[] texts(JsonNode value) {
        if (!value.isContainerNode()) return new String[] {value.asText()};
        List<String> texts = new ArrayList<>();
        for (Iterator<Map.Entry<String, JsonNode>> each = value.fields(); each.hasNext(); ) {
            Map.Entry<String, JsonNode> field = each.next();
            texts.add(field.getKey());
            if (field.getValue().isObject()) {
                texts.add(field.getValue().path("start").asText("1"));
                texts.add(field.getValue().path("step").asText("1000"));
            } else texts.add(field.getValue().asText());
        }
        for (JsonNode each : value) if (value.isArray()) texts.add(each.asText());
        return texts.toArray(new String[0]);
    }

    private static ObjectNode open(JsonNode words) {
        String handle = words.get("handle").asText();
        Snowflake.Builder flake = Snowflake.builder();
        Segments.Builder segments = Segments.builder();
        boolean isFlake = words.get("of").asText().equals("snowflake");
        for (Iterator<Map.Entry<String, JsonNode>> each = words.get("options").fields(); each.hasNext(); ) {
            Map.Entry<String, JsonNode> option = each.next();
            String name = option.getKey();
            String said = option.getValue().asText();
            if (said.equals("<leases>")) flake.worker(leases(handle));
            else if (!said.equals("<function>")) {
                if (isFlake) flake.option(Agent.camel(name), texts(option.getValue()));
                else segments.option(Agent.camel(name), texts(option.getValue()));
            } else if (name.equals("fetch")) segments.fetch(fetch(handle));
            else if (name.equals("worker")) {
                flake.worker((space, previous) -> {
                    JsonNode gives = ask(handle, "claim", JSON.createObjectNode().put("name", space).put("previous", previous));
                    return gives == null ? null : (Long) gives.asLong();
                });
            } else flake.peerTimes(() -> numbers(ask(handle, "peer_times", JSON.createObjectNode())));
        }
        Object opened = isFlake ? flake.open() : segments.open();
        OPENED.put(handle, opened);
        ObjectNode end = JSON.createObjectNode();
        return opened instanceof Snowflake ? end.put("worker_id", ((Snowflake) opened).workerId()) : end.putNull("worker_id");
    }

    private static ObjectNode ids(long... ids) {
        ObjectNode end = JSON.createObjectNode();
        LongStream.of(ids).forEach(end.putArray("ids")::add);
        return end;
    }

    private static ObjectNode take(JsonNode words) throws Exception {
        Object its = OPENED.get(words.get("handle").asText());
        int count = words.path("count").asInt(1);
        if (its instanceof Snowflake) return ids(((Snowflake) its).take(count));
        Tag tag = ((Segments) its).tag(words.get("tag").asText());
        String by = words.get("by").asText();
        long before = tag.stats().waiting();
        CompletableFuture<long[]> call = tag.takeAsync(count, words.hasNonNull("timeout_ms") ? words.get("timeout_ms").asLong() : -1);
        TAKES.put(by, call);
        while (!call.isDone() && tag.stats().waiting() <= before) Thread.sleep(1);
        say(is("begun").put("by", by));
        return ids(call.join());
    }

    private static ObjectNode tryIt(JsonNode words) {
        Tag tag = ((Segments) OPENED.get(words.get("handle").asText())).tag(words.get("tag").asText());
        var id = tag.tryNext();
        return id.isPresent() ? ids(id.getAsLong()) : JSON.createObjectNode().put("code", "would_block");
    }

    private static ObjectNode stats(JsonNode words) throws Exception {
        Object its = OPENED.get(words.get("handle").asText());
        Object stats = its instanceof Snowflake ? ((Snowflake) its).stats()
                : words.hasNonNull("tag") ? ((Segments) its).tag(words.get("tag").asText()).stats() : ((Segments) its).stats();
        ObjectNode fields = JSON.createObjectNode();
        for (var method : stats.getClass().getMethods()) {
            if (method.getDeclaringClass() != stats.getClass() || method.getParameterCount() != 0) continue;
            Object value = method.invoke(stats);
            if (value instanceof Segment) value = Map.of("start", ((Segment) value).start(), "end", ((Segment) value).end(), "stride", ((Segment) value).stride());
            if (value instanceof List) continue;
            fields.set(method.getName().replaceAll("[A-Z]", "_$0").toLowerCase(), JSON.valueToTree(value));
        }
        return fields;
    }

    private static void ends(String word, JsonNode words, Callable<ObjectNode> call) {
        THREADS.execute(() -> {
            ObjectNode message = is(word);
            if (words.hasNonNull("by")) message.set("by", words.get("by"));
            else message.set("handle", words.get("handle"));
            try {
                message.setAll(call.call());
            } catch (Throwable failed) {
                Throwable cause = failed instanceof CompletionException ? failed.getCause() : failed;
                if (cause instanceof java.util.concurrent.CancellationException) return;
                if (!(cause instanceof LeafidException)) {
                    cause.printStackTrace();
                    System.exit(1);
                }
                message.put("code", ((LeafidException) cause).code()).put("text", cause.getMessage());
            }
            say(message);
        });
    }

    private static void obey(JsonNode words) throws Exception {
        switch (words.get("do").asText()) {
            case "open" -> ends("opened", words, () -> open(words));
            case "take" -> ends("got", words, () -> take(words));
            case "try" -> ends("got", words, () -> tryIt(words));
            case "close" -> ends("closed", words, () -> {
                ((AutoCloseable) OPENED.get(words.get("handle").asText())).close();
                return JSON.createObjectNode();
            });
            case "leave" -> TAKES.get(words.get("by").asText()).cancel(false);
            case "stats" -> {
                ObjectNode message = is("stats");
                message.set("handle", words.get("handle"));
                message.set("fields", stats(words));
                say(message);
            }
            case "answer" -> ASKED.remove(words.get("call").asLong()).complete(words);
            default -> say(is("synced"));
        }
    }

    public static void main(String[] arguments) throws Exception {
        LOG.setUseParentHandlers(false);
        LOG.setLevel(Level.INFO);
        LOG.addHandler(new Handler() {
            @Override
            public void publish(LogRecord record) {
                Level level = record.getLevel();
                String name = level == Level.SEVERE ? "error" : level == Level.WARNING ? "warn" : "info";
                say(is("log").put("level", name).put("text", record.getMessage()));
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        });
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line; (line = lines.readLine()) != null; ) obey(JSON.readTree(line));
        }
        System.exit(0);
    }
}
