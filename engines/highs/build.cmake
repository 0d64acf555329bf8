# Settings for compiling HiGHS. cmake reads them before the CMakeLists.txt of HiGHS, see .cargo/config.toml.

# Most files of HiGHS are short and spend their time on the same headers. Thirty files in one take a third of the time
# of thirty files one by one. HiGHS itself does this on macOS.
set(CMAKE_UNITY_BUILD ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 30)

# With a file like this, the crate `cmake` does not name a compiler, and HiGHS prefers clang to the compiler of the
# system. These are the compilers that the crate names without it.
if(NOT WIN32)
  if(NOT DEFINED ENV{CC})
    set(CMAKE_C_COMPILER cc)
  endif()
  if(NOT DEFINED ENV{CXX})
    set(CMAKE_CXX_COMPILER c++)
  endif()
endif()
