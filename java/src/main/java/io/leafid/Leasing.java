package io.leafid;

/** The calls of {@link WorkerLeases}, as the native side makes them. */
final class Leasing {
    private Leasing() {}

    static String[] answer(WorkerLeases leases, String[] event) throws Exception {
        if (event[0].equals("claim")) return texts(leases.claim(new ClaimRequest(event)));
        Long leaseMs = event[6] == null ? null : Long.valueOf(event[6]);
        Lease lease = new Lease(number(event[3]), number(event[4]), number(event[5]), leaseMs, event[7]);
        if (event[0].equals("renew")) {
            Renewal renewal = leases.renew(lease, number(event[8]));
            return renewal == null ? null : renewal.texts();
        }
        leases.release(lease, number(event[8]));
        return null;
    }

    private static long number(String text) {
        return Long.parseLong(text);
    }

    private static String[] texts(Lease lease) {
        if (lease == null) return null;
        String[] times = texts(lease.peerTimesMs());
        String[] texts = new String[5 + times.length];
        texts[0] = Long.toString(lease.workerId());
        texts[1] = Long.toString(lease.fromMs());
        texts[2] = Long.toString(lease.untilMs());
        texts[3] = lease.leaseMs() == null ? null : lease.leaseMs().toString();
        texts[4] = lease.token();
        System.arraycopy(times, 0, texts, 5, times.length);
        return texts;
    }

    static String[] texts(long... numbers) {
        String[] texts = new String[numbers.length];
        for (int at = 0; at < texts.length; at++) texts[at] = Long.toString(numbers[at]);
        return texts;
    }
}
