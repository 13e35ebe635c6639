# What `cmake --install` lays down: libraries, headers, the program, its completion, the licence, the reader in Python,
# and the package that find_package(Trainwarden) finds.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Trainwarden)

install(TARGETS trainwarden_library EXPORT TrainwardenTargets)
install(EXPORT TrainwardenTargets NAMESPACE Trainwarden:: DESTINATION ${package_dir})
install(DIRECTORY include/trainwarden TYPE INCLUDE)
install(FILES LICENSE TYPE DOC)
if(EXISTS ${PROJECT_SOURCE_DIR}/docs/format/read_run.py)
  install(FILES docs/format/read_run.py DESTINATION ${CMAKE_INSTALL_DOCDIR}/format)
endif()

# The program writes its own completions, where each shell looks for them.
function(tw_install_completion shell folder file)
  set(script ${PROJECT_BINARY_DIR}/completion/${file})
  add_custom_command(OUTPUT ${script} COMMAND trainwarden completion ${shell} > ${script} DEPENDS trainwarden VERBATIM)
  add_custom_target(completion_${shell} ALL DEPENDS ${script})
  install(FILES ${script} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
endfunction()

if(TARGET trainwarden)
  install(TARGETS trainwarden)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/completion)
  tw_install_completion(bash bash-completion/completions trainwarden)
  tw_install_completion(zsh zsh/site-functions _trainwarden)
  tw_install_completion(fish fish/vendor_completions.d trainwarden.fish)
endif()

if(TARGET trainwarden_torch)
  set_target_properties(trainwarden_torch PROPERTIES INSTALL_RPATH $ORIGIN)  # finds libtrainwarden.so beside it
  install(TARGETS trainwarden_torch EXPORT TrainwardenTorchTargets COMPONENT torch)
  install(EXPORT TrainwardenTorchTargets NAMESPACE Trainwarden:: DESTINATION ${package_dir} COMPONENT torch)
endif()

configure_package_config_file(cmake/TrainwardenConfig.cmake.in ${PROJECT_BINARY_DIR}/TrainwardenConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TrainwardenConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TrainwardenConfig.cmake ${PROJECT_BINARY_DIR}/TrainwardenConfigVersion.cmake
        DESTINATION ${package_dir})
