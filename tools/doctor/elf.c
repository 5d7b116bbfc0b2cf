/* SPDX-License-Identifier: MIT */
#include "tools/doctor/elf.h"

#include <elf.h>
#include <glib.h>
#include <string.h>
#include <unistd.h>

/* Far larger than any plugin. */
#define FILE_BYTES_MAX (256u << 20)

/* A file in memory, whose offsets may be wrong. */
struct image {
    const char *bytes;
    size_t size_bytes;
};

/* Returns a piece of the file; NULL if the file does not hold all of it. */
static const char *piece(const struct image *image, uint64_t offset, uint64_t size_bytes) {
    bool is_there = offset <= image->size_bytes && size_bytes <= image->size_bytes - offset;
    return is_there ? image->bytes + offset : NULL;
}

static bool load(const struct image *image, uint64_t offset, void *to, size_t size_bytes) {
    const char *from = piece(image, offset, size_bytes);
    if (from != NULL) {
        memcpy(to, from, size_bytes);
    }
    return from != NULL;
}

/* The section table was checked by read_sections. */
static bool load_section(const struct image *image, const Elf64_Ehdr *head, uint64_t index, Elf64_Shdr *section) {
    return index < head->e_shnum && load(image, head->e_shoff + index * sizeof *section, section, sizeof *section);
}

/* Loads the integer at an address of the loaded library. */
static bool load_int(const struct image *image, const Elf64_Ehdr *head, uint64_t address, int *value) {
    Elf64_Shdr section;
    for (uint64_t i = 0; load_section(image, head, i, &section); i++) {
        if (section.sh_type == SHT_PROGBITS && address >= section.sh_addr &&
            address - section.sh_addr < section.sh_size) {
            return section.sh_offset <= image->size_bytes &&
                   load(image, section.sh_offset + (address - section.sh_addr), value, sizeof *value);
        }
    }
    return false;
}

static bool is_named(const struct image *image, const Elf64_Shdr *strings, uint32_t at, const char *name) {
    size_t size_bytes = strlen(name) + 1;
    const char *found =
        strings->sh_offset <= image->size_bytes ? piece(image, strings->sh_offset + at, size_bytes) : NULL;
    return found != NULL && memcmp(found, name, size_bytes) == 0;
}

/* Returns false if the symbols are missing or point outside their sections. */
static bool read_symbols(const struct image *image, const Elf64_Ehdr *head, const Elf64_Shdr *symbols,
                         struct doctor_elf *elf) {
    Elf64_Shdr strings;
    Elf64_Sym symbol = {0};
    bool has_major = false;
    bool has_minor = false;
    if (!load_section(image, head, symbols->sh_link, &strings) ||
        piece(image, symbols->sh_offset, symbols->sh_size) == NULL) {
        return false;
    }
    for (uint64_t at = 0; at + sizeof symbol <= symbols->sh_size; at += sizeof symbol) {
        load(image, symbols->sh_offset + at, &symbol, sizeof symbol);
        if (is_named(image, &strings, symbol.st_name, "plugin_want_major")) {
            has_major = load_int(image, head, symbol.st_value, &elf->major);
        } else if (is_named(image, &strings, symbol.st_name, "plugin_want_minor")) {
            has_minor = load_int(image, head, symbol.st_value, &elf->minor);
        }
    }
    elf->has_series = has_major && has_minor;
    return true;
}

static enum doctor_elf_result read_sections(const struct image *image, struct doctor_elf *elf) {
    Elf64_Ehdr head;
    Elf64_Shdr section;
    if (!load(image, 0, &head, sizeof head) || head.e_shentsize != sizeof section ||
        piece(image, head.e_shoff, (uint64_t)head.e_shnum * sizeof section) == NULL) {
        return DOCTOR_ELF_DAMAGED;
    }
    for (uint64_t i = 0; load_section(image, &head, i, &section); i++) {
        if (section.sh_type == SHT_DYNSYM) {
            return read_symbols(image, &head, &section, elf) ? DOCTOR_ELF_OK : DOCTOR_ELF_DAMAGED;
        }
    }
    return DOCTOR_ELF_OK;
}

/* Class, byte order and machine have the same offsets in every ELF file. */
static enum doctor_elf_result read_image(const struct image *image, struct doctor_elf *elf) {
    Elf32_Ehdr head;
    if (!load(image, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) {
        return image->size_bytes < sizeof head ? DOCTOR_ELF_DAMAGED : DOCTOR_ELF_FOREIGN;
    }
    bool is_little = head.e_ident[EI_DATA] == ELFDATA2LSB;
    elf->machine = is_little ? GUINT16_FROM_LE(head.e_machine) : GUINT16_FROM_BE(head.e_machine);
    elf->bits = head.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    if (elf->bits != 64 || is_little != (G_BYTE_ORDER == G_LITTLE_ENDIAN)) {
        return DOCTOR_ELF_FOREIGN;
    }
    return read_sections(image, elf);
}

enum doctor_elf_result doctor_elf_read(const char *path, struct doctor_elf *elf) {
    *elf = (struct doctor_elf){0};
    GMappedFile *file = access(path, R_OK) == 0 ? g_mapped_file_new(path, FALSE, NULL) : NULL;
    if (file == NULL) {
        return DOCTOR_ELF_UNREADABLE;
    }
    const struct image image = {g_mapped_file_get_contents(file), g_mapped_file_get_length(file)};
    enum doctor_elf_result result = image.size_bytes > FILE_BYTES_MAX ? DOCTOR_ELF_FOREIGN : read_image(&image, elf);
    g_mapped_file_unref(file);
    return result;
}

char *doctor_elf_machine_text(const struct doctor_elf *elf, char text[32]) {
    static const struct {
        uint16_t machine;
        const char *name;
    } names[] = {{EM_386, "x86"},         {EM_X86_64, "x86-64"}, {EM_ARM, "ARM"},
                 {EM_AARCH64, "AArch64"}, {EM_RISCV, "RISC-V"},  {EM_PPC64, "PowerPC"}};
    g_snprintf(text, 32, "machine %u", elf->machine);
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (names[i].machine == elf->machine) {
            g_strlcpy(text, names[i].name, 32);
        }
    }
    if (elf->bits == 32) {
        g_strlcat(text, ", 32 bits", 32);
    }
    return text;
}
