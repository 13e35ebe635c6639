# What a build of the wheel alone (TrainwardenWheel.cmake) takes from this build folder: the floors, with the page.
list(TRANSFORM tw_floors PREPEND tw_ OUTPUT_VARIABLE tw_wheel_parts)
export(TARGETS ${tw_wheel_parts} tw_page tw_warnings NAMESPACE Built:: FILE ${PROJECT_BINARY_DIR}/TrainwardenWheelParts.cmake)
add_custom_target(tw_wheel_parts DEPENDS ${tw_wheel_parts} tw_page_bytes)
if(TARGET tw_notebook_page)
  add_dependencies(tw_wheel_parts tw_notebook_page)
endif()
