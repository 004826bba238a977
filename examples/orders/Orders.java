// Order intake in Java: two threads share one generator. Each order has an id, and a number among those of its shop, from
// segments of NUMBERS, which is file:DIR or the URLs of a Leaf with commas between. Writes its orders to standard output.
//
//     java -cp leafid.jar Orders.java COUNT SEED NUMBERS SHOP...

import io.leafid.Segments;
import io.leafid.Snowflake;
import io.leafid.Tag;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

final class Orders {
    /**
     * As many orders as go out in one write. The kernel keeps a write of at most 4096 bytes to a pipe in one piece, so a
     * process that is killed leaves no half line.
     */
    private static final int BATCH = 50;
    private static final int[] PRICES = {249, 499, 899, 1290, 1999, 4950, 12900, 39900};

    public static void main(String[] words) throws Exception {
        int count = Integer.parseInt(words[0]);
        int seed = Integer.parseInt(words[1]);
        String[] servers = words[2].startsWith("file:") ? new String[] {words[2]} : words[2].split(",");
        ExecutorService threads = Executors.newFixedThreadPool(2);
        // A step that does not grow with the use keeps the gaps small that a killed process leaves.
        try (Snowflake flake = Snowflake.builder().worker(0, 31).name("orders").timeoutMs(60_000).open();
                Segments segments = Segments.builder().servers(servers).name("orders").adaptive(false).timeoutMs(60_000).open()) {
            List<Tag> shops = new ArrayList<>();
            for (String shop : Arrays.asList(words).subList(3, words.length)) shops.add(segments.tag(shop));
            Future<?> first = threads.submit(() -> makeOrders(count / 2, 2 * seed + 1, flake, shops, false));
            Future<?> second = threads.submit(() -> makeOrders(count - count / 2, 2 * seed + 2, flake, shops, true));
            first.get();
            second.get();
        } finally {
            threads.shutdown();
        }
    }

    /** Takes ids one by one, or in batches. */
    private static Void makeOrders(int count, int seed, Snowflake flake, List<Tag> shops, boolean inBatches) throws Exception {
        FileOutputStream out = new FileOutputStream(FileDescriptor.out);
        long process = ProcessHandle.current().pid();
        Random random = new Random(seed);
        for (int done = 0; done < count; done += BATCH) {
            Tag shop = shops.get(random.below(shops.size()));
            long[] ids = new long[Math.min(BATCH, count - done)];
            long[] numbers = new long[ids.length];
            if (inBatches) {
                flake.fill(ids);
                shop.fill(numbers);
            } else {
                Arrays.setAll(ids, at -> flake.next());
                Arrays.setAll(numbers, at -> shop.next());
            }
            StringBuilder lines = new StringBuilder();
            for (int at = 0; at < ids.length; at++) {
                String customer = String.format("C-%05d", 1 + random.below(200) * random.below(200));
                int amountCents = PRICES[random.below(8)] * (1 + random.below(4));
                lines.append(process).append('\t').append(ids[at]).append('\t').append(shop.name()).append('\t')
                        .append(numbers[at]).append('\t').append(customer).append('\t').append(amountCents).append('\t')
                        .append(System.currentTimeMillis()).append('\n');
            }
            out.write(lines.toString().getBytes(StandardCharsets.UTF_8));
        }
        return null;
    }

    /** Marsaglia's xorshift of 32 bits: the same seed gives the same orders. The seed is not 0. */
    private static final class Random {
        private int state;

        Random(int seed) {
            state = seed;
        }

        int below(int end) {
            state ^= state << 13;
            state ^= state >>> 17;
            state ^= state << 5;
            return Integer.remainderUnsigned(state, end);
        }
    }
}
