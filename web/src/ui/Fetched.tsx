import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { Failed } from "./Failed";
import { Loading } from "./Loading";

/** What a query brought; until then its shape, and if it fails, the reason and a way on. */
export function Fetched<Data>(props: {
  query: UseQueryResult<Data>;
  rows?: number;
  loading?: ReactNode;
  children: (data: Data) => ReactNode;
}) {
  const { data, error, isPending, refetch } = props.query;
  // Old data stays on the screen when a refresh fails: the frame says that the line is down.
  if (data !== undefined) return props.children(data);
  if (isPending) return props.loading ?? <Loading rows={props.rows} />;
  return <Failed error={error} again={() => void refetch()} />;
}
