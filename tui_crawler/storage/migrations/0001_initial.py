"""The schema as it was first published. Frozen: it stays as it is whatever becomes of the models."""

from tui_crawler.storage.migrations import statements

up = statements("""
CREATE TABLE "meta" (
    "name" TEXT NOT NULL PRIMARY KEY, "value" NUMBER
);
CREATE TABLE "url" (
    "id" INTEGER NOT NULL PRIMARY KEY, "hash" INTEGER NOT NULL, "href" TEXT NOT NULL
);
CREATE UNIQUE INDEX "url_hash" ON "url" ("hash");
CREATE TABLE "job" (
    "id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT NOT NULL, "note" STRING, "tag" STRING, "created_by" STRING,
    "created_at" NUMBER, "nice" NUMBER, "max_depth" INTEGER, "concurrency" INTEGER, "aborted" NUMBER, "ruleset_id"
    NUMBER, "pending" NUMBER, "done" NUMBER, "failed" NUMBER, "blocked" NUMBER
);
CREATE UNIQUE INDEX "job_name" ON "job" ("name");
CREATE TABLE "ruleset" (
    "id" INTEGER NOT NULL PRIMARY KEY, "job_id" INTEGER NOT NULL, "parent_id" NUMBER, "at" NUMBER, "who" STRING, "note"
    STRING, "rules" STRING, FOREIGN KEY ("job_id") REFERENCES "job" ("id")
);
CREATE INDEX "ruleset_job_id_id" ON "ruleset" ("job_id", "id");
CREATE TABLE "origin" (
    "id" INTEGER NOT NULL PRIMARY KEY, "origin" TEXT NOT NULL, "start_path" STRING, "participates" NUMBER, "joined"
    STRING, "session_id" NUMBER, "epoch" NUMBER, "change" NUMBER, "finish_reason" STRING, "paused" NUMBER, "paused_at"
    NUMBER, "paused_by" STRING, "patience" NUMBER, "politeness" NUMBER, "may_fall" NUMBER, "rate_limits" NUMBER,
    "delay_ms" NUMBER, "delay_reason" STRING, "operator_delay_ms" NUMBER, "next_request_at" NUMBER, "last_request_at"
    NUMBER, "last_response_ms" NUMBER, "response_window" STRING, "asleep_until" NUMBER, "in_flight_url" STRING,
    "in_flight_since" NUMBER, "robots_status" TEXT NOT NULL DEFAULT 'none', "robots_http_status" INTEGER,
    "robots_fetched_at" NUMBER, "robots_expires_at" NUMBER, "crawl_delay_ms" INTEGER, "todo" NUMBER, "pending" NUMBER,
    "done" NUMBER, "failed" NUMBER, "blocked" NUMBER, "requests" NUMBER, "bytes" NUMBER, "attempts" NUMBER,
    "pages_known" NUMBER, "discovered" NUMBER, "last_url" STRING, "last_exit_code" INTEGER, "last_http_status" INTEGER,
    "last_attempt_at" NUMBER
);
CREATE UNIQUE INDEX "origin_origin" ON "origin" ("origin");
CREATE INDEX "origin_change" ON "origin" ("change");
CREATE TABLE "robots_text" (
    "origin_id" INTEGER NOT NULL PRIMARY KEY, "body" BLOB NOT NULL, FOREIGN KEY ("origin_id") REFERENCES "origin" ("id")
);
CREATE TABLE "page" (
    "id" INTEGER NOT NULL PRIMARY KEY, "job_id" INTEGER NOT NULL, "origin_id" INTEGER NOT NULL, "url_id" INTEGER NOT
    NULL, "url_hash" INTEGER NOT NULL, "status" NUMBER, "attempts" NUMBER, "attempts_remaining" NUMBER, "nice" NUMBER,
    "depth" NUMBER, "seed" NUMBER, "force" NUMBER, "beyond_depth" NUMBER, "failed" NUMBER, "sitemap" NUMBER,
    "redirect_hops" NUMBER, "not_before" NUMBER, "item_pattern" STRING, "last_exit_code" INTEGER, "last_http_status"
    INTEGER, "last_crawled_at" NUMBER, "last_contentful_at" NUMBER, "last_attempt_id" NUMBER, "fresh_until" NUMBER,
    "lastmod" NUMBER, "ignored_run" NUMBER, "todo_order" NUMBER, "claimed_at" NUMBER, "claimed_by" NUMBER, "stash"
    STRING, "found_on_page_id" INTEGER, "created_at" NUMBER, FOREIGN KEY ("job_id") REFERENCES "job" ("id"), FOREIGN KEY
    ("origin_id") REFERENCES "origin" ("id"), FOREIGN KEY ("url_id") REFERENCES "url" ("id"), FOREIGN KEY
    ("found_on_page_id") REFERENCES "page" ("id")
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
    "origin_id" INTEGER NOT NULL, "reason" TEXT NOT NULL, "count" NUMBER, "sample_url" STRING, PRIMARY KEY ("origin_id",
    "reason"), FOREIGN KEY ("origin_id") REFERENCES "origin" ("id")
);
CREATE TABLE "exclusion" (
    "id" INTEGER NOT NULL PRIMARY KEY, "kind" TEXT NOT NULL, "value" TEXT NOT NULL, "reason" STRING, "who" STRING,
    "source" STRING, "created_at" NUMBER
);
CREATE UNIQUE INDEX "exclusion_kind_value" ON "exclusion" ("kind", "value");
CREATE TABLE "segment" (
    "id" INTEGER NOT NULL PRIMARY KEY, "name" TEXT NOT NULL, "urls" NUMBER, "created_at" NUMBER, "consumed_at" NUMBER
);
CREATE UNIQUE INDEX "segment_name" ON "segment" ("name");
CREATE TABLE "document" (
    "page_id" INTEGER NOT NULL PRIMARY KEY, "kind" STRING, "content_type" STRING, "charset" STRING, "title" STRING,
    "sha256" STRING, "size" NUMBER, "etag" STRING, "last_modified" STRING, "cache_control" STRING, "expires" STRING,
    "age" STRING, "content_location" STRING, "canonical" STRING, "noindex" NUMBER, "nofollow" NUMBER, "incomplete"
    STRING, "stored_at" NUMBER, "validation_type" STRING, "valid" INTEGER, "validation_errors" STRING, "parsed_at"
    NUMBER, "scanned_at" NUMBER, FOREIGN KEY ("page_id") REFERENCES "page" ("id")
);
CREATE INDEX "document_sha256" ON "document" ("sha256");
CREATE INDEX "document_unscanned" ON "document" ("page_id") WHERE ("scanned_at" = 0);
CREATE TABLE "body" (
    "sha256" TEXT NOT NULL PRIMARY KEY, "size" NUMBER, "zstd" BLOB NOT NULL
);
CREATE TABLE "link" (
    "from_page_id" INTEGER NOT NULL, "kind" TEXT NOT NULL, "to_url_id" INTEGER NOT NULL, "nofollow" NUMBER, "text"
    STRING, "first_seen_at" NUMBER, PRIMARY KEY ("from_page_id", "kind", "to_url_id"), FOREIGN KEY ("from_page_id")
    REFERENCES "page" ("id"), FOREIGN KEY ("to_url_id") REFERENCES "url" ("id")
) WITHOUT ROWID;
CREATE INDEX "link_to_url_id" ON "link" ("to_url_id");
CREATE TABLE "redirect" (
    "page_id" INTEGER NOT NULL, "source" TEXT NOT NULL, "to_url_id" INTEGER NOT NULL, "to_fragment" STRING, "permanent"
    NUMBER, "seen_at" NUMBER, PRIMARY KEY ("page_id", "source", "to_url_id"), FOREIGN KEY ("page_id") REFERENCES "page"
    ("id"), FOREIGN KEY ("to_url_id") REFERENCES "url" ("id")
);
CREATE INDEX "redirect_to_url_id" ON "redirect" ("to_url_id");
CREATE TABLE "data_block" (
    "id" INTEGER NOT NULL PRIMARY KEY, "page_id" INTEGER NOT NULL, "name" TEXT NOT NULL, "type" TEXT NOT NULL, "place"
    NUMBER, "value" STRING, FOREIGN KEY ("page_id") REFERENCES "page" ("id")
);
CREATE UNIQUE INDEX "data_block_page_id_name_place" ON "data_block" ("page_id", "name", "place");
CREATE TABLE "run" (
    "id" INTEGER NOT NULL PRIMARY KEY, "job_id" INTEGER NOT NULL, "started_at" NUMBER, "continued_at" NUMBER,
    "finished_at" NUMBER, "finish_reason" STRING, "clean" NUMBER, "requests" NUMBER, "attempts" NUMBER, "config_name"
    STRING, "config_text" STRING, "user_agent" STRING, "worker" STRING, "max_in_flight" NUMBER, "max_requests" INTEGER,
    "tries" NUMBER, "patience" NUMBER, "start_politeness" NUMBER, "recrawl_interval_ms" NUMBER, "respect_http_freshness"
    NUMBER, "force_recrawl" NUMBER, FOREIGN KEY ("job_id") REFERENCES "job" ("id")
);
CREATE TABLE "session" (
    "id" INTEGER NOT NULL PRIMARY KEY, "run_id" NUMBER, "rest" NUMBER, "host" STRING, "machine" STRING, "pid" NUMBER,
    "process_started_ms" NUMBER, "worker" STRING, "tags" STRING, "started_at" NUMBER, "heartbeat_at" NUMBER, "lease_ms"
    NUMBER, "ended_at" NUMBER, "clean" NUMBER, "ended_by" STRING
);
CREATE INDEX "session_open" ON "session" ("id") WHERE ("ended_at" = 0);
CREATE TABLE "attempt" (
    "id" INTEGER NOT NULL PRIMARY KEY, "run_id" INTEGER NOT NULL, "session_id" INTEGER NOT NULL, "origin_id" INTEGER NOT
    NULL, "url_id" INTEGER NOT NULL, "page_id" INTEGER, "kind" TEXT NOT NULL, "exit_code" INTEGER NOT NULL,
    "http_status" INTEGER, "started_at" NUMBER, "ended_at" NUMBER, "response_ms" INTEGER, "bytes" NUMBER, "requests"
    NUMBER, "patience_before" NUMBER, "patience_after" NUMBER, "politeness_after" NUMBER, "delay_ms_before" NUMBER,
    "delay_ms_after" NUMBER, "delay_reason" STRING, "new_pages" NUMBER, "ruleset_id" NUMBER, "problem" NUMBER, "message"
    STRING, "decided_by" STRING, "cut" STRING, FOREIGN KEY ("run_id") REFERENCES "run" ("id"), FOREIGN KEY
    ("session_id") REFERENCES "session" ("id"), FOREIGN KEY ("origin_id") REFERENCES "origin" ("id"), FOREIGN KEY
    ("url_id") REFERENCES "url" ("id"), FOREIGN KEY ("page_id") REFERENCES "page" ("id")
);
CREATE INDEX "attempt_origin" ON "attempt" ("origin_id", "id");
CREATE INDEX "attempt_url" ON "attempt" ("url_id", "id");
CREATE INDEX "attempt_problem" ON "attempt" ("id") WHERE ("problem" = 1);
CREATE INDEX "attempt_problem_origin" ON "attempt" ("origin_id", "id") WHERE ("problem" = 1);
CREATE INDEX "attempt_patience" ON "attempt" ("origin_id", "id") WHERE ("patience_after" < "patience_before");
CREATE INDEX "attempt_delay" ON "attempt" ("origin_id", "id") WHERE ("delay_ms_after" != "delay_ms_before");
CREATE TABLE "request" (
    "id" INTEGER NOT NULL PRIMARY KEY, "attempt_id" INTEGER NOT NULL, "url_id" INTEGER NOT NULL, "method" TEXT NOT NULL,
    "sent_at" NUMBER, "head_at" INTEGER, "ended_at" NUMBER, "http_status" INTEGER, "conditional" NUMBER, "fluke_retry"
    NUMBER, "error" STRING, "remote_address" STRING, "request_headers" STRING, "response_headers" STRING, FOREIGN KEY
    ("attempt_id") REFERENCES "attempt" ("id"), FOREIGN KEY ("url_id") REFERENCES "url" ("id")
);
CREATE INDEX "request_attempt_id" ON "request" ("attempt_id");
CREATE TABLE "attempt_result" (
    "id" TEXT NOT NULL PRIMARY KEY, "attempt_id" INTEGER NOT NULL, "type" TEXT NOT NULL, "value" STRING, FOREIGN KEY
    ("attempt_id") REFERENCES "attempt" ("id")
);
CREATE INDEX "attempt_result_attempt_id" ON "attempt_result" ("attempt_id");
CREATE TABLE "exit_count" (
    "run_id" INTEGER NOT NULL, "origin_id" INTEGER NOT NULL, "exit_code" INTEGER NOT NULL, "count" NUMBER, PRIMARY KEY
    ("run_id", "origin_id", "exit_code")
) WITHOUT ROWID;
CREATE TABLE "exit_minute" (
    "origin_id" INTEGER NOT NULL, "minute" INTEGER NOT NULL, "exit_code" INTEGER NOT NULL, "count" NUMBER, PRIMARY KEY
    ("origin_id", "minute", "exit_code")
) WITHOUT ROWID;
CREATE INDEX "exit_minute_minute" ON "exit_minute" ("minute");
CREATE TABLE "operator_action" (
    "id" INTEGER NOT NULL PRIMARY KEY, "at" NUMBER, "who" STRING, "action" TEXT NOT NULL, "target" STRING, "command"
    STRING, "before" STRING, "after" STRING, "error" STRING, "applied_at" NUMBER, "undoes" NUMBER, "undone" NUMBER
);
CREATE INDEX "operator_action_waiting" ON "operator_action" ("id") WHERE ("applied_at" = 0);
""")
