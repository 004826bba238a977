package io.leafid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;

/** How the native library is loaded: each time by the command line in a JVM of its own, with mounts of its own. */
class LibraryTest {
    private static final String[] OWN_MOUNTS = {"unshare", "--user", "--map-root-user", "--mount"};

    /** On a disk: where memory is mounted, perhaps no program may run. */
    @TempDir(factory = TempDirFactory.Standard.class)
    Path dir;
    private String said;

    /** Its exit code. From these folders no program may run. */
    private int decodes(List<Path> noexec, String... options) throws Exception {
        StringBuilder script = new StringBuilder();
        for (Path folder : noexec) script.append("mount -t tmpfs -o noexec tmpfs '").append(folder).append("' && ");
        List<String> command = new ArrayList<>(List.of(OWN_MOUNTS));
        command.addAll(List.of("sh", "-c", script + "exec \"$@\"", "sh"));
        return decodes(command, classes(), options);
    }

    private static Path classes() throws Exception {
        return Path.of(Leafid.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    }

    private int decodes(List<String> before, Path classes, String... options) throws Exception {
        List<String> command = new ArrayList<>(before);
        command.addAll(List.of(System.getProperty("java.home") + "/bin/java", "-Djava.io.tmpdir=" + folder("tmp")));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", classes.toString(), "io.leafid.Leafid", "decode", "1169786042799259000"));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("XDG_CACHE_HOME", folder("cache").toString());
        Process process = builder.start();
        said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return process.waitFor();
    }

    private Path folder(String name) throws IOException {
        return Files.createDirectories(dir.resolve(name));
    }

    private static void assumeOwnMounts() throws Exception {
        List<String> command = new ArrayList<>(List.of(OWN_MOUNTS));
        command.add("true");
        try {
            assumeTrue(new ProcessBuilder(command).start().waitFor() == 0, "no mounts of one's own here");
        } catch (IOException missing) {
            assumeTrue(false, "unshare is missing: " + missing.getMessage());
        }
    }

    @Test
    void whereTheTemporaryFolderForbidsProgramsTheCacheServes() throws Exception {
        assumeOwnMounts();
        assertEquals(0, decodes(List.of(folder("tmp"))), said);
        assertEquals(0, folder("cache").toFile().list().length, "the copy is removed");
    }

    @Test
    void whereBothForbidThemTheErrorNamesBothAndWhatToDo() throws Exception {
        assumeOwnMounts();
        assertNotEquals(0, decodes(List.of(folder("tmp"), folder("cache"))));
        assertTrue(said.contains(folder("tmp") + ": ") && said.contains(folder("cache") + ": "), said);
        assertTrue(said.contains("-Dleafid.library=FILE"), said);
    }

    @Test
    void theTemporaryFolderMayBeALink() throws Exception {
        assumeOwnMounts();
        Path link = Files.createSymbolicLink(dir.resolve("link"), folder("tmp"));
        assertEquals(0, decodes(List.of(folder("cache")), "-Djava.io.tmpdir=" + link), said);
    }

    /** Nothing of others is written to, nor loaded. */
    @Test
    void aNameThatIsTakenIsPassedOver() throws Exception {
        Path first = Library.newFile(dir, 7);
        Files.write(first, new byte[] {1});
        Path second = Library.newFile(dir, 7);
        assertNotEquals(first, second);
        assertEquals(1, Files.size(first));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(second)));
    }

    @Test
    void thePlatformHasTheCLibraryThatThisProcessHas() throws Exception {
        Path maps = dir.resolve("maps");
        Path none = dir.resolve("none");
        String end = " rw-p 00000000 fe:00 1031 ";
        Files.writeString(maps, "7f00-7f01" + end + "[heap]\n7f02-7f03" + end + "/lib/ld-musl-x86_64.so.1\n");
        assertEquals("linux-x86_64-musl", Library.platform("Linux", "amd64", maps, none));
        assertEquals("linux-aarch64-musl", Library.platform("Linux", "aarch64", maps, none));
        // As Debian and Void have it.
        Files.writeString(maps, "7f02-7f03" + end + "/usr/lib/x86_64-linux-musl/libc.so\n");
        assertEquals("linux-x86_64-musl", Library.platform("Linux", "amd64", maps, none));
        assertEquals("macos-aarch64", Library.platform("Mac OS X", "aarch64", maps, none));
        assertEquals("windows-x86_64", Library.platform("Windows Server 2022", "amd64", maps, none));
        Files.writeString(maps, "7f00-7f01" + end + "/usr/lib/x86_64-linux-gnu/libc.so.6\n");
        assertEquals("linux-x86_64", Library.platform("Linux", "amd64", maps, none));
        assertEquals("linux-aarch64", Library.platform("Linux", "arm64", none, none));
        // A service may hide /proc. This one is Alpine's.
        Path ldd = dir.resolve("ldd");
        Files.writeString(ldd, "#!/bin/sh\nexec /lib/ld-musl-aarch64.so.1 --list \"$@\"\n");
        assertEquals("linux-aarch64-musl", Library.platform("Linux", "arm64", none, ldd));
        assertEquals("linux-aarch64", Library.platform("Linux", "arm64", maps, ldd));
        // That of this JVM, which has a library there.
        assertNotNull(Library.class.getResource("native/" + Library.platform() + "/" + System.mapLibraryName("leafid_java")));
    }

    @Test
    void aLibraryThatIsNamedIsTheOneThatIsLoaded() throws Exception {
        assumeOwnMounts();
        Path named = dir.resolve("named.so");
        assertNotEquals(0, decodes(List.of(), "-Dleafid.library=" + named));
        assertTrue(said.contains(named.toString()), said);
        String library = Library.platform() + "/" + System.mapLibraryName("leafid_java");
        Files.copy(Library.class.getResourceAsStream("native/" + library), named);
        assertEquals(0, decodes(List.of(folder("tmp"), folder("cache")), "-Dleafid.library=" + named), said);
    }

    /** The JVM gives a file to one class loader alone. */
    @Test
    void aSecondClassLoaderHearsWhyItHasNotTheLibraryThatIsNamed() throws Exception {
        Path named = dir.resolve("shared.so");
        String library = Library.platform() + "/" + System.mapLibraryName("leafid_java");
        Files.copy(Library.class.getResourceAsStream("native/" + library), named);
        System.setProperty("leafid.library", named.toString());
        try (Support.Copy first = new Support.Copy(dir, "20")) {
            assertEquals(20, first.workerId());
            Throwable error = assertThrows(AssertionError.class, () -> new Support.Copy(dir, "21"));
            while (error.getCause() != null) error = error.getCause();
            said = error.toString();
            assertTrue(said.contains("UnsatisfiedLinkError") && said.contains(named + " could not be loaded: "), said);
            assertTrue(said.contains("put leafid's jar where they share it"), said);
        } finally {
            System.clearProperty("leafid.library");
        }
    }

    /** As a program has it that ships as one jar: its version stands in the manifest. */
    @Test
    void aJarOfTheProgramHasAnotherVersion() throws Exception {
        assertEquals(0, decodes(List.of(), jar(Leafid.version())), said);
    }

    @Test
    void aLibraryOfAnotherVersionIsRefused() throws Exception {
        String other = "9" + Leafid.version().substring(1);
        assertNotEquals(0, decodes(List.of(), jar(other)));
        assertTrue(said.contains("library is of leafid " + Leafid.version() + ", and its classes are of " + other + ": "), said);
    }

    /** The classes, which take themselves for those of another version, in a jar whose manifest has one more. */
    private Path jar(String version) throws Exception {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.IMPLEMENTATION_VERSION, "2.3.1");
        Path jar = dir.resolve("program.jar");
        try (OutputStream out = Files.newOutputStream(jar); JarOutputStream to = new JarOutputStream(out, manifest);
                Stream<Path> files = Files.walk(classes().resolve("io"))) {
            to.setLevel(Deflater.NO_COMPRESSION);
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                to.putNextEntry(new ZipEntry(classes().relativize(file).toString().replace(File.separatorChar, '/')));
                byte[] bytes = Files.readAllBytes(file);
                if (file.endsWith("Native.class")) {
                    // Of the same length, as a constant's is stored before it.
                    String text = new String(bytes, StandardCharsets.ISO_8859_1);
                    assertTrue(text.contains(Leafid.version()));
                    bytes = text.replace(Leafid.version(), version).getBytes(StandardCharsets.ISO_8859_1);
                }
                to.write(bytes);
            }
        }
        return jar;
    }
}
