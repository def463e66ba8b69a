"""The schema as it was first published. Frozen: it stays as it is whatever becomes of the models."""

from __future__ import annotations

from tui_crawler.storage.migrations import statements

up = statements("""
CREATE TABLE "meta" (
    "name" TEXT NOT NULL PRIMARY KEY, "value" INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE "url" (
    "id" INTEGER NOT NULL PRIMARY KEY, "hash" INTEGER NOT NULL, "href" TEXT NOT NULL
);
CREATE UNIQUE INDEX "url_hash" ON "url" ("hash");
CREATE TABLE "job" (
    "id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT NOT NULL, "note" TEXT NOT NULL DEFAULT '', "tag" TEXT NOT
    NULL DEFAULT '', "created_by" TEXT NOT NULL DEFAULT '', "created_at" INTEGER NOT NULL DEFAULT 0, "nice"
    INTEGER NOT NULL DEFAULT 0, "max_depth" INTEGER, "concurrency" INTEGER, "aborted" INTEGER NOT NULL DEFAULT
    0, "ruleset_id" INTEGER NOT NULL DEFAULT 0, "pending" INTEGER NOT NULL DEFAULT 0, "done" INTEGER NOT NULL
    DEFAULT 0, "failed" INTEGER NOT NULL DEFAULT 0, "blocked" INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX "job_name" ON "job" ("name");
CREATE TABLE "ruleset" (
    "id" INTEGER NOT NULL PRIMARY KEY, "job_id" INTEGER NOT NULL, "parent_id" INTEGER NOT NULL DEFAULT 0, "at"
    INTEGER NOT NULL DEFAULT 0, "who" TEXT NOT NULL DEFAULT '', "note" TEXT NOT NULL DEFAULT '', "rules" TEXT
    NOT NULL DEFAULT '', FOREIGN KEY ("job_id") REFERENCES "job" ("id")
);
CREATE INDEX "ruleset_job_id_id" ON "ruleset" ("job_id", "id");
CREATE TABLE "origin" (
    "id" INTEGER NOT NULL PRIMARY KEY, "origin" TEXT NOT NULL, "start_path" TEXT NOT NULL DEFAULT '',
    "participates" INTEGER NOT NULL DEFAULT 0, "joined" TEXT NOT NULL DEFAULT '', "session_id" INTEGER NOT
    NULL DEFAULT 0, "epoch" INTEGER NOT NULL DEFAULT 0, "change" INTEGER NOT NULL DEFAULT 0, "finish_reason"
    TEXT NOT NULL DEFAULT '', "paused" INTEGER NOT NULL DEFAULT 0, "paused_at" INTEGER NOT NULL DEFAULT 0,
    "paused_by" TEXT NOT NULL DEFAULT '', "patience" INTEGER NOT NULL DEFAULT 0, "politeness" INTEGER NOT NULL
    DEFAULT 0, "may_fall" INTEGER NOT NULL DEFAULT 0, "rate_limits" INTEGER NOT NULL DEFAULT 0, "delay_ms"
    INTEGER NOT NULL DEFAULT 0, "delay_reason" TEXT NOT NULL DEFAULT '', "operator_delay_ms" INTEGER NOT NULL
    DEFAULT 0, "next_request_at" INTEGER NOT NULL DEFAULT 0, "last_request_at" INTEGER NOT NULL DEFAULT 0,
    "last_response_ms" INTEGER NOT NULL DEFAULT 0, "response_window" TEXT NOT NULL DEFAULT '', "asleep_until"
    INTEGER NOT NULL DEFAULT 0, "in_flight_url" TEXT NOT NULL DEFAULT '', "in_flight_since" INTEGER NOT NULL
    DEFAULT 0, "robots_status" TEXT NOT NULL DEFAULT 'none', "robots_http_status" INTEGER, "robots_fetched_at"
    INTEGER NOT NULL DEFAULT 0, "robots_expires_at" INTEGER NOT NULL DEFAULT 0, "crawl_delay_ms" INTEGER,
    "todo" INTEGER NOT NULL DEFAULT 0, "pending" INTEGER NOT NULL DEFAULT 0, "done" INTEGER NOT NULL DEFAULT
    0, "failed" INTEGER NOT NULL DEFAULT 0, "blocked" INTEGER NOT NULL DEFAULT 0, "requests" INTEGER NOT NULL
    DEFAULT 0, "bytes" INTEGER NOT NULL DEFAULT 0, "attempts" INTEGER NOT NULL DEFAULT 0, "pages_known"
    INTEGER NOT NULL DEFAULT 0, "discovered" INTEGER NOT NULL DEFAULT 0, "last_url" TEXT NOT NULL DEFAULT '',
    "last_exit_code" INTEGER, "last_http_status" INTEGER, "last_attempt_at" INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX "origin_origin" ON "origin" ("origin");
CREATE INDEX "origin_change" ON "origin" ("change");
CREATE TABLE "robots_text" (
    "origin_id" INTEGER NOT NULL PRIMARY KEY, "body" BLOB NOT NULL, FOREIGN KEY ("origin_id") REFERENCES
    "origin" ("id")
);
CREATE TABLE "page" (
    "id" INTEGER NOT NULL PRIMARY KEY, "job_id" INTEGER NOT NULL, "origin_id" INTEGER NOT NULL, "url_id"
    INTEGER NOT NULL, "url_hash" INTEGER NOT NULL, "status" INTEGER NOT NULL DEFAULT 0, "attempts" INTEGER NOT
    NULL DEFAULT 0, "attempts_remaining" INTEGER NOT NULL DEFAULT 0, "nice" INTEGER NOT NULL DEFAULT 0,
    "depth" INTEGER NOT NULL DEFAULT 0, "seed" INTEGER NOT NULL DEFAULT 0, "force" INTEGER NOT NULL DEFAULT 0,
    "beyond_depth" INTEGER NOT NULL DEFAULT 0, "failed" INTEGER NOT NULL DEFAULT 0, "sitemap" INTEGER NOT NULL
    DEFAULT 0, "redirect_hops" INTEGER NOT NULL DEFAULT 0, "not_before" INTEGER NOT NULL DEFAULT 0,
    "item_pattern" TEXT NOT NULL DEFAULT '', "last_exit_code" INTEGER, "last_http_status" INTEGER,
    "last_crawled_at" INTEGER NOT NULL DEFAULT 0, "last_contentful_at" INTEGER NOT NULL DEFAULT 0,
    "last_attempt_id" INTEGER NOT NULL DEFAULT 0, "fresh_until" INTEGER NOT NULL DEFAULT 0, "lastmod" INTEGER
    NOT NULL DEFAULT 0, "ignored_run" INTEGER NOT NULL DEFAULT 0, "todo_order" INTEGER NOT NULL DEFAULT 0,
    "claimed_at" INTEGER NOT NULL DEFAULT 0, "claimed_by" INTEGER NOT NULL DEFAULT 0, "stash" TEXT NOT NULL
    DEFAULT '', "found_on_page_id" INTEGER, "created_at" INTEGER NOT NULL DEFAULT 0, FOREIGN KEY ("job_id")
    REFERENCES "job" ("id"), FOREIGN KEY ("origin_id") REFERENCES "origin" ("id"), FOREIGN KEY ("url_id")
    REFERENCES "url" ("id"), FOREIGN KEY ("found_on_page_id") REFERENCES "page" ("id")
);
CREATE UNIQUE INDEX "page_url_hash_origin_id_job_id" ON "page" ("url_hash", "origin_id", "job_id");
CREATE INDEX "page_origin" ON "page" ("origin_id", "id");
CREATE INDEX "page_pending" ON "page" ("origin_id", ("nice" + "attempts"), "not_before", "id",
    "ignored_run") WHERE ((("status" = 0) AND ("attempts_remaining" > 0)) AND ("beyond_depth" = 0));
CREATE INDEX "page_done" ON "page" ("origin_id", "last_crawled_at", "ignored_run", "fresh_until", "seed",
    "nice", "not_before", "status", "attempts_remaining", "beyond_depth") WHERE ((("status" = 0) AND
    ("attempts_remaining" = 0)) AND ("beyond_depth" = 0));
CREATE INDEX "page_todo" ON "page" ("origin_id", "todo_order") WHERE ("todo_order" > 0);
CREATE INDEX "page_claimed" ON "page" ("claimed_at") WHERE ("status" = 2);
CREATE INDEX "page_seed" ON "page" ("origin_id") WHERE ("seed" = 1);
CREATE INDEX "page_failed" ON "page" ("id") WHERE ("failed" = 1);
CREATE INDEX "page_failed_origin" ON "page" ("origin_id", "id") WHERE ("failed" = 1);
CREATE INDEX "page_failed_code" ON "page" ("last_exit_code", "id") WHERE ("failed" = 1);
CREATE INDEX "page_stash" ON "page" ("job_id", "stash", "id") WHERE ("stash" != '');
CREATE TABLE "refused" (
    "origin_id" INTEGER NOT NULL, "reason" TEXT NOT NULL, "count" INTEGER NOT NULL DEFAULT 0, "sample_url"
    TEXT NOT NULL DEFAULT '', PRIMARY KEY ("origin_id", "reason"), FOREIGN KEY ("origin_id") REFERENCES
    "origin" ("id")
);
CREATE TABLE "exclusion" (
    "id" INTEGER NOT NULL PRIMARY KEY, "kind" TEXT NOT NULL, "value" TEXT NOT NULL, "reason" TEXT NOT NULL
    DEFAULT '', "who" TEXT NOT NULL DEFAULT '', "source" TEXT NOT NULL DEFAULT '', "created_at" INTEGER NOT
    NULL DEFAULT 0
);
CREATE UNIQUE INDEX "exclusion_kind_value" ON "exclusion" ("kind", "value");
CREATE TABLE "segment" (
    "id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT NOT NULL, "urls" INTEGER NOT NULL DEFAULT 0, "created_at"
    INTEGER NOT NULL DEFAULT 0, "consumed_at" INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX "segment_name" ON "segment" ("name");
CREATE TABLE "document" (
    "page_id" INTEGER NOT NULL PRIMARY KEY, "kind" TEXT NOT NULL DEFAULT '', "content_type" TEXT NOT NULL
    DEFAULT '', "charset" TEXT NOT NULL DEFAULT '', "title" TEXT NOT NULL DEFAULT '', "sha256" TEXT NOT NULL
    DEFAULT '', "size" INTEGER NOT NULL DEFAULT 0, "etag" TEXT NOT NULL DEFAULT '', "last_modified" TEXT NOT
    NULL DEFAULT '', "cache_control" TEXT NOT NULL DEFAULT '', "expires" TEXT NOT NULL DEFAULT '', "age" TEXT
    NOT NULL DEFAULT '', "content_location" TEXT NOT NULL DEFAULT '', "canonical" TEXT NOT NULL DEFAULT '',
    "noindex" INTEGER NOT NULL DEFAULT 0, "nofollow" INTEGER NOT NULL DEFAULT 0, "incomplete" TEXT NOT NULL
    DEFAULT '', "stored_at" INTEGER NOT NULL DEFAULT 0, "validation_type" TEXT NOT NULL DEFAULT '', "valid"
    INTEGER, "validation_errors" TEXT NOT NULL DEFAULT '', "parsed_at" INTEGER NOT NULL DEFAULT 0,
    "scanned_at" INTEGER NOT NULL DEFAULT 0, FOREIGN KEY ("page_id") REFERENCES "page" ("id")
);
CREATE INDEX "document_sha256" ON "document" ("sha256");
CREATE INDEX "document_unscanned" ON "document" ("page_id") WHERE ("scanned_at" = 0);
CREATE TABLE "body" (
    "sha256" TEXT NOT NULL PRIMARY KEY, "size" INTEGER NOT NULL DEFAULT 0, "zstd" BLOB NOT NULL
);
CREATE TABLE "link" (
    "from_page_id" INTEGER NOT NULL, "kind" TEXT NOT NULL, "to_url_id" INTEGER NOT NULL, "nofollow" INTEGER
    NOT NULL DEFAULT 0, "text" TEXT NOT NULL DEFAULT '', "first_seen_at" INTEGER NOT NULL DEFAULT 0, PRIMARY
    KEY ("from_page_id", "kind", "to_url_id"), FOREIGN KEY ("from_page_id") REFERENCES "page" ("id"), FOREIGN
    KEY ("to_url_id") REFERENCES "url" ("id")
) WITHOUT ROWID;
CREATE INDEX "link_to_url_id" ON "link" ("to_url_id");
CREATE TABLE "redirect" (
    "page_id" INTEGER NOT NULL, "source" TEXT NOT NULL, "to_url_id" INTEGER NOT NULL, "to_fragment" TEXT NOT
    NULL DEFAULT '', "permanent" INTEGER NOT NULL DEFAULT 0, "seen_at" INTEGER NOT NULL DEFAULT 0, PRIMARY KEY
    ("page_id", "source", "to_url_id"), FOREIGN KEY ("page_id") REFERENCES "page" ("id"), FOREIGN KEY
    ("to_url_id") REFERENCES "url" ("id")
);
CREATE INDEX "redirect_to_url_id" ON "redirect" ("to_url_id");
CREATE TABLE "data_block" (
    "id" INTEGER NOT NULL PRIMARY KEY, "page_id" INTEGER NOT NULL, "name" TEXT NOT NULL, "type" TEXT NOT NULL,
    "place" INTEGER NOT NULL DEFAULT 0, "value" TEXT NOT NULL DEFAULT '', FOREIGN KEY ("page_id") REFERENCES
    "page" ("id")
);
CREATE UNIQUE INDEX "data_block_page_id_name_place" ON "data_block" ("page_id", "name", "place");
CREATE TABLE "run" (
    "id" INTEGER NOT NULL PRIMARY KEY, "job_id" INTEGER NOT NULL, "started_at" INTEGER NOT NULL DEFAULT 0,
    "continued_at" INTEGER NOT NULL DEFAULT 0, "finished_at" INTEGER NOT NULL DEFAULT 0, "finish_reason" TEXT
    NOT NULL DEFAULT '', "clean" INTEGER NOT NULL DEFAULT 0, "requests" INTEGER NOT NULL DEFAULT 0, "attempts"
    INTEGER NOT NULL DEFAULT 0, "config_name" TEXT NOT NULL DEFAULT '', "config_text" TEXT NOT NULL DEFAULT
    '', "user_agent" TEXT NOT NULL DEFAULT '', "worker" TEXT NOT NULL DEFAULT '', "max_in_flight" INTEGER NOT
    NULL DEFAULT 0, "max_requests" INTEGER, "tries" INTEGER NOT NULL DEFAULT 0, "patience" INTEGER NOT NULL
    DEFAULT 0, "start_politeness" INTEGER NOT NULL DEFAULT 0, "recrawl_interval_ms" INTEGER NOT NULL DEFAULT
    0, "respect_http_freshness" INTEGER NOT NULL DEFAULT 0, "force_recrawl" INTEGER NOT NULL DEFAULT 0,
    FOREIGN KEY ("job_id") REFERENCES "job" ("id")
);
CREATE TABLE "session" (
    "id" INTEGER NOT NULL PRIMARY KEY, "run_id" INTEGER NOT NULL DEFAULT 0, "rest" INTEGER NOT NULL DEFAULT 0,
    "host" TEXT NOT NULL DEFAULT '', "machine" TEXT NOT NULL DEFAULT '', "pid" INTEGER NOT NULL DEFAULT 0,
    "process_started_ms" INTEGER NOT NULL DEFAULT 0, "worker" TEXT NOT NULL DEFAULT '', "tags" TEXT NOT NULL
    DEFAULT '', "started_at" INTEGER NOT NULL DEFAULT 0, "heartbeat_at" INTEGER NOT NULL DEFAULT 0, "lease_ms"
    INTEGER NOT NULL DEFAULT 0, "ended_at" INTEGER NOT NULL DEFAULT 0, "clean" INTEGER NOT NULL DEFAULT 0,
    "ended_by" TEXT NOT NULL DEFAULT ''
);
CREATE INDEX "session_open" ON "session" ("id") WHERE ("ended_at" = 0);
CREATE TABLE "attempt" (
    "id" INTEGER NOT NULL PRIMARY KEY, "run_id" INTEGER NOT NULL, "session_id" INTEGER NOT NULL, "origin_id"
    INTEGER NOT NULL, "url_id" INTEGER NOT NULL, "page_id" INTEGER, "kind" TEXT NOT NULL, "exit_code" INTEGER
    NOT NULL, "http_status" INTEGER, "started_at" INTEGER NOT NULL DEFAULT 0, "ended_at" INTEGER NOT NULL
    DEFAULT 0, "response_ms" INTEGER, "bytes" INTEGER NOT NULL DEFAULT 0, "requests" INTEGER NOT NULL DEFAULT
    0, "patience_before" INTEGER NOT NULL DEFAULT 0, "patience_after" INTEGER NOT NULL DEFAULT 0,
    "politeness_after" INTEGER NOT NULL DEFAULT 0, "delay_ms_before" INTEGER NOT NULL DEFAULT 0,
    "delay_ms_after" INTEGER NOT NULL DEFAULT 0, "delay_reason" TEXT NOT NULL DEFAULT '', "new_pages" INTEGER
    NOT NULL DEFAULT 0, "ruleset_id" INTEGER NOT NULL DEFAULT 0, "problem" INTEGER NOT NULL DEFAULT 0,
    "message" TEXT NOT NULL DEFAULT '', "decided_by" TEXT NOT NULL DEFAULT '', "cut" TEXT NOT NULL DEFAULT '',
    FOREIGN KEY ("run_id") REFERENCES "run" ("id"), FOREIGN KEY ("session_id") REFERENCES "session" ("id"),
    FOREIGN KEY ("origin_id") REFERENCES "origin" ("id"), FOREIGN KEY ("url_id") REFERENCES "url" ("id"),
    FOREIGN KEY ("page_id") REFERENCES "page" ("id")
);
CREATE INDEX "attempt_origin" ON "attempt" ("origin_id", "id");
CREATE INDEX "attempt_url" ON "attempt" ("url_id", "id");
CREATE INDEX "attempt_problem" ON "attempt" ("id") WHERE ("problem" = 1);
CREATE INDEX "attempt_problem_origin" ON "attempt" ("origin_id", "id") WHERE ("problem" = 1);
CREATE INDEX "attempt_patience" ON "attempt" ("origin_id", "id") WHERE ("patience_after" <
    "patience_before");
CREATE INDEX "attempt_delay" ON "attempt" ("origin_id", "id") WHERE ("delay_ms_after" !=
    "delay_ms_before");
CREATE TABLE "request" (
    "id" INTEGER NOT NULL PRIMARY KEY, "attempt_id" INTEGER NOT NULL, "url_id" INTEGER NOT NULL, "method" TEXT
    NOT NULL, "sent_at" INTEGER NOT NULL DEFAULT 0, "head_at" INTEGER, "ended_at" INTEGER NOT NULL DEFAULT 0,
    "http_status" INTEGER, "conditional" INTEGER NOT NULL DEFAULT 0, "fluke_retry" INTEGER NOT NULL DEFAULT 0,
    "error" TEXT NOT NULL DEFAULT '', "remote_address" TEXT NOT NULL DEFAULT '', "request_headers" TEXT NOT
    NULL DEFAULT '', "response_headers" TEXT NOT NULL DEFAULT '', FOREIGN KEY ("attempt_id") REFERENCES
    "attempt" ("id"), FOREIGN KEY ("url_id") REFERENCES "url" ("id")
);
CREATE INDEX "request_attempt_id" ON "request" ("attempt_id");
CREATE TABLE "attempt_result" (
    "id" TEXT NOT NULL PRIMARY KEY, "attempt_id" INTEGER NOT NULL, "type" TEXT NOT NULL, "value" TEXT NOT NULL
    DEFAULT '', FOREIGN KEY ("attempt_id") REFERENCES "attempt" ("id")
);
CREATE INDEX "attempt_result_attempt_id" ON "attempt_result" ("attempt_id");
CREATE TABLE "exit_count" (
    "run_id" INTEGER NOT NULL, "origin_id" INTEGER NOT NULL, "exit_code" INTEGER NOT NULL, "count" INTEGER NOT
    NULL DEFAULT 0, PRIMARY KEY ("run_id", "origin_id", "exit_code")
) WITHOUT ROWID;
CREATE TABLE "exit_minute" (
    "origin_id" INTEGER NOT NULL, "minute" INTEGER NOT NULL, "exit_code" INTEGER NOT NULL, "count" INTEGER NOT
    NULL DEFAULT 0, PRIMARY KEY ("origin_id", "minute", "exit_code")
) WITHOUT ROWID;
CREATE INDEX "exit_minute_minute" ON "exit_minute" ("minute");
CREATE TABLE "operator_action" (
    "id" INTEGER NOT NULL PRIMARY KEY, "at" INTEGER NOT NULL DEFAULT 0, "who" TEXT NOT NULL DEFAULT '',
    "action" TEXT NOT NULL, "target" TEXT NOT NULL DEFAULT '', "command" TEXT NOT NULL DEFAULT '', "before"
    TEXT NOT NULL DEFAULT '', "after" TEXT NOT NULL DEFAULT '', "error" TEXT NOT NULL DEFAULT '', "applied_at"
    INTEGER NOT NULL DEFAULT 0, "undoes" INTEGER NOT NULL DEFAULT 0, "undone" INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX "operator_action_waiting" ON "operator_action" ("id") WHERE ("applied_at" = 0);
""")
