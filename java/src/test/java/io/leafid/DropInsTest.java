package io.leafid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.leafid.leaf.IDGen;
import io.leafid.leaf.LeafIDGen;
import io.leafid.leaf.common.Result;
import io.leafid.leaf.common.Status;
import io.leafid.tinyid.TinyId;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Code that is written for another generator, and has only other imports. */
class DropInsTest {
    @TempDir
    Path dir;

    @Test
    void codeThatIsWrittenForLeaf() {
        Fetch fetch = (tag, step, after) -> {
            if (tag.equals("down")) throw new IllegalStateException("no database");
            return tag.equals("order") ? new Segment(after, after + step) : null;
        };
        Segments segments = Segments.builder().stateDir(dir.toString()).fetch(fetch).timeoutMs(600_000).open();
        IDGen ids = new LeafIDGen(segments);
        assertTrue(ids.init());
        Result result = ids.get("order");
        assertEquals(Status.SUCCESS, result.getStatus());
        assertEquals(result.getId() + 1, ids.get("order").getId());
        assertNull(result.getError());
        assertEquals("Result{id=-2, status=EXCEPTION}", ids.get("unknown").toString());
        assertEquals("tag is null: name the counter", ids.get(null).getError().getMessage());
        try (Segments brief = Segments.builder().stateDir(dir.toString()).fetch(fetch).timeoutMs(1_000).open()) {
            IDGen down = new LeafIDGen(brief);
            assertEquals(-3, down.get("down").getId());
            // A call whose time ends while the source is being asked says that instead.
            while (!down.get("down").getError().getMessage().contains("no database")) Thread.onSpinWait();
        }
        segments.close();
        assertEquals("closed", ids.get("order").getError().code());
        assertEquals(-1, ids.get("order").getId());
        try (Snowflake flake = Snowflake.builder().stateDir(dir.toString()).worker(3).timeoutMs(60_000).open()) {
            assertEquals(3, flake.layout().decode(new LeafIDGen(flake).get("any").getId()).workerId());
        }
    }

    /** What the page says to replace is all that there is to replace. */
    @Test
    void leafsCodeCompilesWithOtherImports() throws Exception {
        String leafs = "import com.sankuai.inf.leaf.IDGen;\nimport com.sankuai.inf.leaf.common.Result;\n"
                + "import com.sankuai.inf.leaf.common.Status;\n"
                + "class Orders {\n"
                + "    private final IDGen ids;\n"
                + "    Orders(IDGen ids) { this.ids = ids; }\n"
                + "    long place() {\n"
                + "        Result result = ids.get(\"order\");\n"
                + "        if (result.getStatus() != Status.SUCCESS) throw new IllegalStateException(result.toString());\n"
                + "        return result.getId();\n"
                + "    }\n"
                + "}\n"
                + "class Fixed implements IDGen {\n"
                + "    public boolean init() { return true; }\n"
                + "    public Result get(String key) {\n"
                + "        Result result = new Result();\n"
                + "        result.setId(1);\n"
                + "        result.setStatus(Status.SUCCESS);\n"
                + "        return key == null ? new Result(-1, Status.EXCEPTION) : result;\n"
                + "    }\n"
                + "}\n";
        Matcher words = Pattern.compile("(\\S+\\.)\\* becomes (\\S+\\.)\\*").matcher(Files.readString(Path.of("../docs/JAVA.md")));
        assertTrue(words.find());
        Path source = Files.writeString(dir.resolve("Orders.java"), leafs.replace(words.group(1), words.group(2)));
        String classes = Path.of(IDGen.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
        String[] options = {"-d", dir.toString(), "-classpath", classes, source.toString()};
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, options));
    }

    @Test
    void codeThatIsWrittenForTinyidsClient() throws Exception {
        AtomicLong last = new AtomicLong();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/tinyid/id/nextSegmentIdSimple", call -> {
            String asked = call.getRequestURI().getQuery() + new String(call.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            boolean knows = asked.contains("sesame") && asked.contains("bizType=order");
            long from = last.getAndAdd(100);
            byte[] answer = (knows ? from + "," + (from + 20) + "," + (from + 100) + ",1,0" : "").getBytes(StandardCharsets.UTF_8);
            call.getResponseHeaders().set("Content-Type", "text/plain;charset=UTF-8");
            call.sendResponseHeaders(200, answer.length == 0 ? -1 : answer.length);
            call.getResponseBody().write(answer);
            call.close();
        });
        server.start();
        Files.writeString(dir.resolve("tinyid_client.properties"),
                "tinyid.server=127.0.0.1:" + server.getAddress().getPort() + "\ntinyid.token=sesame\ntinyid.readTimeout=60000\n"
                        + "leafid.stateDir=" + dir + "\n");
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        // Without the file, they are those of the program.
        AtomicLong counter = new AtomicLong(7_000);
        try (Segments segments = Segments.builder().stateDir(dir.toString())
                .fetch((tag, step, after) -> new Segment(counter.get(), counter.addAndGet(step))).timeoutMs(60_000).open()) {
            Leafid.use(segments);
            assertEquals(7_000, TinyId.nextId("order"));
        }
        assertThrows(IllegalStateException.class, () -> TinyId.nextId("order"));
        try (URLClassLoader files = new URLClassLoader(new URL[] {dir.toUri().toURL()}, before)) {
            Thread.currentThread().setContextClassLoader(files);
            assertEquals(1, TinyId.nextId("order"));
            assertEquals(List.of(2L, 3L, 4L), TinyId.nextId("order", 3));
            assertEquals(List.of(5L), TinyId.nextId("order", null));
            assertThrows(IllegalArgumentException.class, () -> TinyId.nextId(null));
        } finally {
            Thread.currentThread().setContextClassLoader(before);
            server.stop(0);
        }
    }
}
