// A list of any length: only the rows in sight are drawn, and more are read as one scrolls near the end. Every row has
// the same height, so that a place in the list is a number. Limit: what was never scrolled to cannot be found by the
// browser's own search; the screen offers one.
import { Box } from "@mantine/core";
import { useElementSize, useMergedRef } from "@mantine/hooks";
import { useEffect, useRef, useState, type ReactNode } from "react";

import { Failed } from "./Failed";
import { Loading } from "./Loading";
import type { Pages } from "./Paged";
import { t } from "../messages/ui";

const AROUND = 8; // rows drawn above and below what is in sight
const AHEAD = 60; // rows before the end at which more are read
const UNMEASURED = 600;

interface Props<Item> {
  pages: Pages<Item>;
  label: string;
  keyOf: (item: Item) => string;
  empty: ReactNode;
  rowHeight?: number;
  children: (item: Item) => ReactNode;
}

export function LongList<Item>({ pages: { query, rows }, label, keyOf, empty, rowHeight = 60, children }: Props<Item>) {
  const place = useRef<HTMLDivElement>(null);
  const size = useElementSize();
  const ref = useMergedRef(place, size.ref);
  const [top, setTop] = useState(0);
  const height = size.height === 0 ? UNMEASURED : size.height;
  const first = Math.max(0, Math.floor(top / rowHeight) - AROUND);
  const last = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + AROUND);
  const wantsMore = query.hasNextPage && !query.isFetchingNextPage && last > rows.length - AHEAD;
  useEffect(() => {
    if (wantsMore) void query.fetchNextPage();
  }, [wantsMore]);
  if (query.isPending) return <Loading />;
  if (query.data === undefined) return <Failed error={query.error} again={() => void query.refetch()} />;
  if (rows.length === 0 && !query.hasNextPage) return empty;
  return (
    <Box ref={ref} tabIndex={0} role="group" aria-label={label} onScroll={(event) => setTop(event.currentTarget.scrollTop)} style={{ maxHeight: "max(320px, calc(100dvh - 300px))", overflowY: "auto" }}>
      <div role="list" aria-label={label} aria-busy={query.isFetchingNextPage} style={{ height: rows.length * rowHeight, position: "relative" }}>
        {rows.slice(first, last).map((item, at) => (
          <div
            key={keyOf(item)}
            role="listitem"
            aria-posinset={first + at + 1}
            aria-setsize={query.hasNextPage ? -1 : rows.length}
            style={{ position: "absolute", top: (first + at) * rowHeight, left: 0, right: 0, height: rowHeight, overflow: "hidden", borderBottom: "1px solid var(--mantine-color-default-border)" }}
          >
            {children(item)}
          </div>
        ))}
      </div>
      {query.isFetchingNextPage && <div role="status">{t("loading")}</div>}
    </Box>
  );
}
