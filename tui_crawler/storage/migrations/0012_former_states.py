"""What a run changes is kept as it was before, so that runs can be compared. Of older runs nothing of this is known."""

from tui_crawler.storage.migrations import statements

up = statements("""
ALTER TABLE "run" ADD COLUMN "keeps_former" NUMBER;
CREATE TABLE "former_page" ("run_id" INTEGER NOT NULL, "origin_id" INTEGER NOT NULL, "page_id" INTEGER NOT NULL,
    "exit_code" INTEGER, "http_status" INTEGER, "sha256" STRING, "title" STRING, "canonical" STRING, "redirect_id"
    INTEGER, "links" NUMBER, PRIMARY KEY ("run_id", "origin_id", "page_id"), FOREIGN KEY ("page_id") REFERENCES "page"
    ("id"), FOREIGN KEY ("redirect_id") REFERENCES "url" ("id")) WITHOUT ROWID;
CREATE INDEX "former_page_sha256" ON "former_page" ("sha256") WHERE ("sha256" != '');
CREATE TABLE "former_link" ("run_id" INTEGER NOT NULL, "from_page_id" INTEGER NOT NULL, "kind" TEXT NOT NULL,
    "to_url_id" INTEGER NOT NULL, "nofollow" NUMBER, "text" STRING, "first_seen_at" NUMBER, PRIMARY KEY ("run_id",
    "from_page_id", "kind", "to_url_id"), FOREIGN KEY ("from_page_id") REFERENCES "page" ("id"), FOREIGN KEY
    ("to_url_id") REFERENCES "url" ("id")) WITHOUT ROWID;
CREATE INDEX "former_link_to_url_id" ON "former_link" ("to_url_id");
CREATE TABLE "former_robots" ("run_id" INTEGER NOT NULL, "origin_id" INTEGER NOT NULL, "body" BLOB NOT NULL, PRIMARY
    KEY ("run_id", "origin_id")) WITHOUT ROWID;
""")
