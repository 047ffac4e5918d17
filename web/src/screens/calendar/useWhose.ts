// Which accounts the calendar shows, and on whose clock.
import { useLocalStorage } from "@mantine/hooks";
import { useState } from "react";

import type { Account } from "../../api/accounts";
import { ownZone } from "../../ui/times";

export type Clock = "workspace" | "account" | "mine";

export interface Whose {
  /** Null: all of them. */
  account: Account | undefined;
  clock: Clock;
  zone: string;
  choose: (accountId: string | null) => void;
  setClock: (clock: Clock) => void;
}

/** The clock that was chosen last is kept in this browser; an account's own needs one to be chosen. */
export function useWhose(home: string, accounts: readonly Account[]): Whose {
  const [accountId, choose] = useState<string | null>(null);
  const [kept, setClock] = useLocalStorage<Clock>({ key: "cadenza.calendar.zone", defaultValue: "workspace", getInitialValueInEffect: false });
  const account = accounts.find(({ id }) => id === accountId);
  const clock = kept === "account" && account === undefined ? "workspace" : kept;
  const zones: Record<Clock, string> = { workspace: home, account: account?.zone ?? home, mine: ownZone };
  return { account, clock, zone: zones[clock], choose, setClock };
}
