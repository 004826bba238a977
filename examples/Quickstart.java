import io.leafid.*;
import java.time.Instant;

public class Quickstart {
    public static void main(String[] args) {
        try (Snowflake flake = Snowflake.open()) {
            long id = flake.next();
            Parts parts = flake.layout().decode(id);
            System.out.println(id + " made at " + Instant.ofEpochMilli(parts.timestampMs()) + " by worker " + parts.workerId());

            long[] ids = flake.take(1000);
            System.out.println(ids.length + " more, " + ids[0] + " to " + ids[999]);
        }
    }
}
