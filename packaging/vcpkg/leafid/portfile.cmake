# The archives of a release: packaging/registries.py of leafid writes archives.cmake, which names them. One build serves
# debug and release.
set(VCPKG_BUILD_TYPE release)
set(VCPKG_POLICY_MISMATCHED_NUMBER_OF_BINARIES enabled)

if(VCPKG_TARGET_ARCHITECTURE STREQUAL "arm64")
  set(target aarch64)
else()
  set(target x86_64)
endif()
if(VCPKG_TARGET_IS_OSX)
  string(APPEND target "-apple-darwin")
elseif(VCPKG_TARGET_IS_WINDOWS)
  vcpkg_check_linkage(ONLY_DYNAMIC_LIBRARY)
  string(APPEND target "-pc-windows-gnu")
  if(VCPKG_TARGET_ARCHITECTURE STREQUAL "arm64")
    string(APPEND target "llvm")
  endif()
else()
  string(APPEND target "-unknown-linux-gnu")
endif()

include("${CMAKE_CURRENT_LIST_DIR}/archives.cmake")
vcpkg_download_distfile(archive
  URLS "${url}/leafid-c-${VERSION}-${target}.tar.gz"
  FILENAME "leafid-c-${VERSION}-${target}.tar.gz"
  SHA512 "${sha512_${target}}"
)
vcpkg_extract_source_archive(source ARCHIVE "${archive}")

file(INSTALL "${source}/include/leafid.h" "${source}/include/leafid.hpp" DESTINATION "${CURRENT_PACKAGES_DIR}/include")
if(VCPKG_LIBRARY_LINKAGE STREQUAL "dynamic")
  file(GLOB libraries "${source}/lib/libleafid.so*" "${source}/lib/libleafid*.dylib" "${source}/lib/leafid.lib")
else()
  set(libraries "${source}/lib/libleafid.a")
endif()
file(INSTALL ${libraries} DESTINATION "${CURRENT_PACKAGES_DIR}/lib")
if(VCPKG_TARGET_IS_WINDOWS)
  file(INSTALL "${source}/bin/leafid.dll" DESTINATION "${CURRENT_PACKAGES_DIR}/bin")
endif()
file(INSTALL "${source}/lib/pkgconfig/leafid.pc" DESTINATION "${CURRENT_PACKAGES_DIR}/lib/pkgconfig")
vcpkg_fixup_pkgconfig()

# It finds the libraries from where it lies.
file(INSTALL "${source}/lib/cmake/leafid" DESTINATION "${CURRENT_PACKAGES_DIR}/lib/cmake")
set(VCPKG_POLICY_SKIP_MISPLACED_CMAKE_FILES_CHECK enabled)
set(VCPKG_POLICY_SKIP_LIB_CMAKE_MERGE_CHECK enabled)

vcpkg_install_copyright(FILE_LIST
  "${source}/LICENSE-MIT" "${source}/LICENSE-APACHE" "${source}/LICENSE-THIRD-PARTY"
)
