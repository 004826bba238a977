package bench;

import io.leafid.Snowflake;

/** The first id of a program, with a folder for its record; without one, a number. */
public final class First {
    private First() {}

    public static void main(String[] folder) {
        if (folder.length == 0) {
            System.out.println(0);
            return;
        }
        try (Snowflake ids = Snowflake.builder().worker(1).stateDir(folder[0]).open()) {
            System.out.println(ids.next());
        }
    }
}
