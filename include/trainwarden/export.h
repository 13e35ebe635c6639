// TRAINWARDEN_API marks what libtrainwarden.so exports; everything else is hidden.
#pragma once

#if defined(__GNUC__)
#define TRAINWARDEN_API __attribute__((visibility("default")))
#else
#define TRAINWARDEN_API
#endif
