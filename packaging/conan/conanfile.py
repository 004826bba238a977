import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.files import copy, get, load

required_conan_version = ">=2.0"

MACHINES = {"x86_64": "x86_64", "armv8": "aarch64"}
SYSTEMS = {"Linux": "unknown-linux-{libc}", "Macos": "apple-darwin", "Windows": "pc-windows-{libc}"}


class LeafidConan(ConanFile):
    """The archives of a release. conandata.yml names them: packaging/registries.py of leafid writes it."""

    name = "leafid"
    description = "Unique 64-bit ids made in the caller's own process"
    license = ("MIT", "Apache-2.0")
    topics = ("snowflake", "id", "unique", "leaf", "generator")
    package_type = "library"
    # An interface in C: no compiler makes a difference.
    settings = "os", "arch"
    options = {"shared": [True, False], "libc": ["gnu", "musl"]}
    default_options = {"shared": False, "libc": "gnu"}

    def set_version(self):
        self.version = self.version or next(iter(self.conan_data["sources"]))

    def config_options(self):
        if self.settings.os != "Linux":
            del self.options.libc
        if self.settings.os == "Windows":
            self.options.shared = True

    def _archive(self):
        libc = self.options.get_safe("libc") or ("gnullvm" if self.settings.arch == "armv8" else "gnu")
        system = SYSTEMS.get(str(self.settings.os), "").format(libc=libc)
        target = f"{MACHINES.get(str(self.settings.arch))}-{system}"
        return self.conan_data["sources"][self.version].get(target)

    def validate(self):
        if not self._archive():
            raise ConanInvalidConfiguration(f"leafid {self.version} has no archive for {self.settings.os}, {self.settings.arch}")
        if self.settings.os == "Windows" and not self.options.shared:
            raise ConanInvalidConfiguration("on Windows leafid is a DLL: set the option leafid/*:shared=True")

    def build(self):
        get(self, **self._archive(), strip_root=True)

    def package(self):
        copy(self, "LICENSE-*", self.build_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "leafid.h*", os.path.join(self.build_folder, "include"), os.path.join(self.package_folder, "include"))
        library = os.path.join(self.build_folder, "lib")
        for name in ("libleafid.so*", "libleafid*.dylib", "leafid.lib") if self.options.shared else ("libleafid.a",):
            copy(self, name, library, os.path.join(self.package_folder, "lib"))
        copy(self, "leafid.dll", os.path.join(self.build_folder, "bin"), os.path.join(self.package_folder, "bin"))
        # For what the static library needs.
        copy(self, "leafid.pc", os.path.join(library, "pkgconfig"), os.path.join(self.package_folder, "res"))

    def package_info(self):
        self.cpp_info.libs = ["leafid"]
        self.cpp_info.set_property("cmake_file_name", "leafid")
        self.cpp_info.set_property("cmake_target_name", "leafid::leafid")
        self.cpp_info.set_property("pkg_config_name", "leafid")
        if not self.options.shared:
            words = re.search(r"^Libs\.private:(.*)$", load(self, os.path.join(self.package_folder, "res/leafid.pc")), re.MULTILINE)[1]
            self.cpp_info.system_libs = re.findall(r"-l(\S+)", words)
            self.cpp_info.frameworks = re.findall(r"-framework[ ,](\S+)", words)
