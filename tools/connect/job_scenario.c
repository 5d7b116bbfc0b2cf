/* SPDX-License-Identifier: MIT */
/* connect --scenario: the client's side of a scenario, with a server that plays the other side. */
#include "tools/cli/command_line.h"
#include "tools/connect/job.h"
#include "tools/live/scenario_traffic.h"

struct scenario_job {
    struct ue_job job;
    const struct ue_scenario *scenario;
    struct ue_streams *streams;
};

static bool is_acked(const struct scenario_job *s) {
    for (uint32_t i = 0; i < ue_streams_channels(s->scenario); i++) {
        if (ue_conn_unacked(s->job.conn, UE_SCENARIO_CHANNEL_FIRST + i) != 0) {
            return false;
        }
    }
    return ue_backlog_is_empty(&s->job.backlog);
}

static void work(struct ue_job *job, uint64_t now_ns) {
    struct scenario_job *s = (struct scenario_job *)job;
    if (now_ns - job->begun_ns < s->scenario->duration_ns) {
        ue_streams_work(s->streams, &job->backlog, job->opened_count);
    } else if (is_acked(s)) {
        job->state = UE_JOB_DONE;
    }
}

static void take(struct ue_job *job, uint64_t now_ns, const struct ue_event *bunch) {
    struct scenario_job *s = (struct scenario_job *)job;
    (void)now_ns;
    if (!ue_streams_take(s->streams, bunch)) {
        ue_job_fail(job, "channel %u: not the next message of the scenario (does the server play it?)", bunch->channel);
    }
}

static json_t *result(const struct ue_job *job) {
    return ue_streams_result(((const struct scenario_job *)job)->streams);
}

static void clear(struct ue_job *job) {
    ue_streams_free(((struct scenario_job *)job)->streams);
}

struct ue_job *ue_job_scenario_new(const struct ue_job_options *options) {
    static const struct ue_job_kind kind = {"scenario", take, work, result, clear};
    const struct ue_scenario *scenario = ue_scenario_find(options->scenario);
    if (scenario == NULL) {
        char *names = ue_streams_names();
        ue_complain("--scenario=%s: there is none of that name; there are %s", options->scenario, names);
        g_free(names);
        return NULL;
    }
    struct scenario_job *s = g_new0(struct scenario_job, 1);
    s->job.kind = &kind;
    s->scenario = scenario;
    s->streams = ue_streams_new(scenario, UE_ROLE_CLIENT);
    return &s->job;
}
