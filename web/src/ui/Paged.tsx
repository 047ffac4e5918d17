// A list that is read page by page, as far down as somebody asks.
import { Button } from "@mantine/core";
import { useInfiniteQuery, type InfiniteData, type QueryKey, type UseInfiniteQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { Failed } from "./Failed";
import { Loading } from "./Loading";
import { t } from "../messages/ui";

interface Part<Item, Cursor> {
  items: Item[];
  /** Where the next part begins; nothing: this is the last. */
  next?: Cursor | null;
}

export interface Pages<Item> {
  query: UseInfiniteQueryResult<InfiniteData<Part<Item, unknown>>>;
  /** What was read so far. */
  rows: Item[];
}

export function usePages<Item, Cursor>(queryKey: QueryKey, read: (cursor: Cursor | undefined) => Promise<Part<Item, Cursor>>, how: { refetchInterval?: number | ((rows: Item[]) => number | false) } = {}): Pages<Item> {
  const query = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as Cursor | undefined,
    queryFn: ({ pageParam }) => read(pageParam as Cursor | undefined),
    getNextPageParam: ({ next }) => next ?? undefined,
    refetchInterval: ({ state }) => (typeof how.refetchInterval === "function" ? how.refetchInterval(rowsOf(state.data)) : (how.refetchInterval ?? false)),
  });
  return { query, rows: rowsOf(query.data) };
}

const rowsOf = <Item,>(data: InfiniteData<Part<Item, unknown>> | undefined): Item[] => data?.pages.flatMap(({ items }) => items) ?? [];

/** What was read of it, a way to more, and a word where there is nothing. */
export function Paged<Item>({ pages, empty, more = t("showOlder"), children }: { pages: Pages<Item>; empty: ReactNode; more?: string; children: (rows: Item[]) => ReactNode }) {
  const { query, rows } = pages;
  if (query.isPending) return <Loading />;
  if (query.data === undefined) return <Failed error={query.error} again={() => void query.refetch()} />;
  return (
    <>
      {rows.length === 0 ? empty : children(rows)}
      {query.hasNextPage && (
        <Button mt="sm" w="fit-content" variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          {more}
        </Button>
      )}
    </>
  );
}
