/* SPDX-License-Identifier: MIT */
#include "tests/bench/report.h"

#include <stdio.h>
#include <string.h>

static const char *judge(const struct metric *m, double judged) {
    return m->must == 0 ? "INFO" : judged <= m->must ? "PASS" : "FAIL";
}

static void print_text(const struct metric *m, double ratio, const char *verdict) {
    printf("BENCH %s %.4g %s", m->id, m->value, m->unit);
    if (m->anchor != NULL) {
        printf(" anchor=%s:%.4g ratio=%.2f", m->anchor, m->anchor_value, ratio);
    }
    if (m->must != 0) {
        printf(" goal=%g", m->must);
    }
    if (m->stretch != 0) {
        printf("/%g", m->stretch);
    }
    printf(" %s\n", verdict);
}

static void print_json(const struct metric *m, double ratio, const char *verdict) {
    printf("{\"id\":\"%s\",\"value\":%.6g,\"unit\":\"%s\"", m->id, m->value, m->unit);
    if (m->anchor != NULL) {
        printf(",\"anchor\":\"%s\",\"anchor_value\":%.6g,\"ratio\":%.4f", m->anchor, m->anchor_value, ratio);
    }
    if (m->must != 0) {
        printf(",\"must\":%g", m->must);
    }
    if (m->stretch != 0) {
        printf(",\"stretch\":%g", m->stretch);
    }
    printf(",\"verdict\":\"%s\"}\n", verdict);
}

void report_metric(struct report *report, const struct metric *metric) {
    double ratio = metric->anchor != NULL ? metric->value / metric->anchor_value : 0;
    const char *verdict = judge(metric, metric->anchor != NULL ? ratio : metric->value);
    report->failed += strcmp(verdict, "FAIL") == 0;
    (report->json ? print_json : print_text)(metric, ratio, verdict);
    fflush(stdout);
}

/* The first "model name" of /proc/cpuinfo. */
static void cpu_name(char *name, size_t size) {
    snprintf(name, size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        if (colon != NULL && strncmp(line, "model name", 10) == 0) {
            colon[strcspn(colon, "\n")] = '\0';
            snprintf(name, size, "%s", colon + 2);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

void report_header(const struct report *report, const char *program, const char *flags) {
    char cpu[256];
    cpu_name(cpu, sizeof cpu);
    if (report->json) {
        printf("{\"program\":\"%s\",\"cpu\":\"%s\",\"compiler\":\"%s\",\"flags\":\"%s\"}\n", program, cpu, __VERSION__,
               flags);
    } else {
        printf("# %s: cpu \"%s\", compiler \"%s\", library flags \"%s\"\n", program, cpu, __VERSION__, flags);
    }
}
