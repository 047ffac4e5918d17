// The accounts of a workspace, and which one a screen is about (kept in its address, and remembered).
import { useLocalStorage } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useSearchParams } from "react-router";

import { api, take, type Schemas } from "./client";
import { useWorkspaceId } from "./me";

export type Account = Schemas["Account"];

export function useAccounts() {
  const workspaceId = useWorkspaceId();
  return useQuery({
    queryKey: [workspaceId, "accounts"],
    queryFn: () => take(api.GET("/api/v1/workspaces/{workspace_id}/accounts", { params: { path: { workspace_id: workspaceId } } })),
  });
}

/** Puts the account's name before what was done: a toast is read when the screen shows another one already. */
export function useNamed(): (accountId: string, words: string) => string {
  const workspaceId = useWorkspaceId();
  const queries = useQueryClient();
  return (accountId, words) => {
    const account = queries.getQueryData<Account[]>([workspaceId, "accounts"])?.find(({ id }) => id === accountId);
    return account === undefined ? words : `${account.handle}: ${words}`;
  };
}

/** The account that a screen shows: of the address, else the last one, else the first. */
export function useChosenAccount(accounts: readonly Account[]): [Account | undefined, (id: string) => void] {
  const workspaceId = useWorkspaceId();
  const [search, setSearch] = useSearchParams();
  const [last, setLast] = useLocalStorage({ key: `cadenza.account.${workspaceId}`, defaultValue: "", getInitialValueInEffect: false });
  const find = (id: string | null) => accounts.find((each) => each.id === id);
  const chosen = find(search.get("account")) ?? find(last) ?? accounts.find((each) => each.state !== "disconnected") ?? accounts[0];
  const choose = (id: string) => {
    setLast(id);
    setSearch((old) => {
      old.set("account", id);
      return old;
    });
  };
  return [chosen, choose];
}
