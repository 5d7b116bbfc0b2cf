/* SPDX-License-Identifier: MIT */
/* What the file of a plugin says of itself, read without loading it: it may be damaged, or made for another machine. */
#ifndef UERUDP_TOOLS_DOCTOR_ELF_H
#define UERUDP_TOOLS_DOCTOR_ELF_H

#include <stdbool.h>
#include <stdint.h>

enum ue_elf_result {
    UE_ELF_OK,
    UE_ELF_UNREADABLE, /* absent, or access is denied */
    UE_ELF_FOREIGN,    /* not a shared library, or not of this kind of machine */
    UE_ELF_DAMAGED,
};

struct ue_elf {
    uint16_t machine; /* EM_ number; 0: not an ELF file */
    uint8_t bits;     /* 32 or 64 */
    bool has_series;  /* plugin_want_major and plugin_want_minor are there */
    int major, minor; /* the series of Wireshark that it was built for */
};

/* Members are set as far as the file could be read. */
enum ue_elf_result ue_elf_read(const char *path, struct ue_elf *elf);

/* "x86-64", "AArch64", "machine 20", with ", 32 bits" where that is so; returns text. */
char *ue_elf_machine(const struct ue_elf *elf, char text[32]);

#endif
