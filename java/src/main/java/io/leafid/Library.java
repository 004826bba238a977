package io.leafid;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Loads the native library: the file of {@code -Dleafid.library}, or a copy of the one in the jar. A class loader has a
 * copy of its own, because a file can be loaded by one class loader alone.
 */
final class Library {
    /** No EnumSet: the first one of a JVM takes milliseconds. */
    private static final FileAttribute<Set<PosixFilePermission>> OWN = PosixFilePermissions.asFileAttribute(
            new HashSet<>(Arrays.asList(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE)));

    private Library() {}

    static void load() {
        String own = System.getProperty("leafid.library");
        if (own != null) {
            loadOwn(new File(own).getAbsolutePath());
            return;
        }
        String name = platform() + "/" + System.mapLibraryName("leafid_java");
        List<String> tried = new ArrayList<>();
        for (Path folder : folders()) {
            try {
                if (loadCopy(name, folder)) return;
                throw new UnsatisfiedLinkError("this jar has no native library of leafid for " + platform()
                        + ": build one from the sources, and name it by -Dleafid.library=FILE");
            } catch (IOException | UnsatisfiedLinkError error) {
                if (String.valueOf(error.getMessage()).startsWith("this jar has no")) throw (UnsatisfiedLinkError) error;
                tried.add(folder + ": " + error.getMessage());
            }
        }
        throw new UnsatisfiedLinkError("the native library of leafid could not be copied and loaded (" + String.join("; ", tried)
                + "): name a folder from which programs may run by -Djava.io.tmpdir=DIR, or the library by -Dleafid.library=FILE");
    }

    /** No copy is made of it: it may be named because programs may run from its folder alone. */
    private static void loadOwn(String file) {
        try {
            System.load(file);
        } catch (UnsatisfiedLinkError error) {
            throw new UnsatisfiedLinkError("the native library of -Dleafid.library=" + file + " could not be loaded: "
                    + error.getMessage() + ". One file serves one class loader: for several, as of web applications, leave the"
                    + " option out, or put leafid's jar where they share it");
        }
    }

    /** Where a copy may be: a temporary folder may forbid programs (noexec). */
    private static List<Path> folders() {
        List<Path> folders = new ArrayList<>();
        folders.add(Paths.get(System.getProperty("java.io.tmpdir")));
        String cache = System.getenv("XDG_CACHE_HOME");
        String home = System.getProperty("user.home");
        if (cache != null && !cache.isEmpty()) folders.add(Paths.get(cache));
        else if (home != null) folders.add(Paths.get(home, ".cache"));
        return folders;
    }

    private static boolean loadCopy(String name, Path folder) throws IOException {
        try (InputStream library = Library.class.getResourceAsStream("native/" + name)) {
            if (library == null) return false;
            // Older JDKs refuse a link to a folder.
            if (!Files.isDirectory(folder)) Files.createDirectories(folder);
            Path copy = newFile(folder, System.nanoTime());
            try {
                try (OutputStream out = new FileOutputStream(copy.toFile())) {
                    copy(library, out);
                }
                System.load(copy.toAbsolutePath().toString());
            } finally {
                // Windows keeps a loaded file: it goes with the process.
                if (!copy.toFile().delete()) copy.toFile().deleteOnExit();
            }
            return true;
        }
    }

    /**
     * A new file, which only this user can read and write. A name that is taken is passed over, so no name has to be secret:
     * {@code Files.createTempFile} draws secret ones, and starts all of {@code SecureRandom} for it.
     */
    static Path newFile(Path folder, long number) throws IOException {
        boolean isPosix = folder.getFileSystem().supportedFileAttributeViews().contains("posix");
        for (; ; number++) {
            Path file = folder.resolve("leafid-" + number + "-" + System.mapLibraryName("java"));
            try {
                return isPosix ? Files.createFile(file, OWN) : Files.createFile(file);
            } catch (FileAlreadyExistsException taken) {
                // The next number.
            }
        }
    }

    /**
     * In larger parts than {@code Files.copy}: there are megabytes. A channel of JDK 8 would be closed on a thread that was
     * interrupted, and no later thread could load the classes.
     */
    private static void copy(InputStream from, OutputStream to) throws IOException {
        byte[] part = new byte[1 << 16];
        for (int count; (count = from.read(part)) > 0; ) to.write(part, 0, count);
    }

    /** The folder of the jar: {@code linux-x86_64}, {@code linux-aarch64-musl}, {@code macos-aarch64} … */
    static String platform() {
        return platform(System.getProperty("os.name"), System.getProperty("os.arch"), Paths.get("/proc/self/maps"),
                Paths.get("/usr/bin/ldd"));
    }

    static String platform(String osName, String osArch, Path maps, Path ldd) {
        String os = osName.toLowerCase(Locale.ROOT);
        String arch = osArch.toLowerCase(Locale.ROOT);
        arch = arch.equals("amd64") || arch.equals("x86_64") ? "x86_64" : arch.equals("arm64") ? "aarch64" : arch;
        if (os.startsWith("windows")) return "windows-" + arch;
        if (os.startsWith("mac")) return "macos-" + arch;
        return "linux-" + arch + (isMusl(maps, ldd) ? "-musl" : "");
    }

    /**
     * By what is loaded in this process: the other C library may be installed, too, as gcompat is on Alpine. The file of
     * musl has one of two names. Where that is hidden, ldd says it, a script for the programs here.
     */
    private static boolean isMusl(Path maps, Path ldd) {
        try {
            String loaded = text(maps);
            return loaded.contains("/ld-musl-") || loaded.contains("/libc.so\n");
        } catch (IOException hidden) {
            return isOfMusl(ldd);
        }
    }

    private static boolean isOfMusl(Path ldd) {
        try {
            return text(ldd).contains("/ld-musl-");
        } catch (IOException missing) {
            // Most are of glibc; what cannot be loaded is said.
            return false;
        }
    }

    private static String text(Path file) throws IOException {
        try (InputStream in = new FileInputStream(file.toFile())) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            copy(in, bytes);
            return bytes.toString("ISO-8859-1");
        }
    }
}
