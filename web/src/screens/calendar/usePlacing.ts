// Where something that is dragged comes to rest: said before it is let go, carried out when it is.
import type { ReactNode } from "react";
import type { UseMutationResult } from "@tanstack/react-query";

import type { Account } from "../../api/accounts";
import { localInstant } from "../../ui/localInstant";
import { localDay, moment } from "../../ui/times";
import type { Shown } from "./events";
import { hintByHand, useHint } from "./Hint";
import { land, toQuarter, type Landing } from "./snap";
import type { Draft } from "./Tray";
import { planOf, usePlan, type Entry, type Ghost, type Plan } from "./useCalendar";
import { t } from "../../messages/calendar";

interface Where {
  accounts: readonly Account[];
  /** Whose slots a draft may take; null: anybody's. */
  accountId: string | null;
  zone: string;
  free: readonly Ghost[];
  /** A draft was let go where no slot is: somebody has to say which account it is for. */
  onPlace: (draft: Draft, at: Date) => void;
}

export interface Placing {
  plan: UseMutationResult<string[], Error, Plan>;
  hint: ReactNode;
  /** Say what letting go would do, and whether it may be let go there. */
  foretell: (shown: Shown, to: Date, byDay: boolean) => boolean;
  move: (entry: Entry, to: Date, byDay: boolean) => void;
  receive: (draft: Draft, to: Date, byDay: boolean) => void;
}

export function usePlacing({ accounts, accountId, zone, free, onPlace }: Where): Placing {
  const plan = usePlan();
  const [tellHint, hint] = useHint();
  const landing = (shown: Shown, to: Date, byDay: boolean): Landing => {
    const rest = (from: Date | null) => (byDay ? to : toQuarter(to, from));
    if (shown.kind !== "entry") return land(rest(null), free, { accountId, zone, byDay });
    const { account_id, at } = shown.entry.pill;
    return land(rest(new Date(at)), free, { accountId: account_id, zone, byDay, own: shown.entry.in_slot ? { account_id, at } : null });
  };
  return {
    plan,
    hint,
    foretell: (shown, to, byDay) => {
      const { at, slot } = landing(shown, to, byDay);
      const isPast = byDay ? localDay(at, zone) < localDay(new Date(), zone) : at.getTime() < Date.now();
      const handle = slot !== null && shown.kind === "draft" ? accounts.find(({ id }) => id === slot.account_id)?.handle : undefined;
      const takes = handle === undefined ? t("takesTheSlotTime", { time: moment(at, zone) }) : t("takesTheSlotTimeHandle", { time: moment(at, zone), handle });
      tellHint(isPast && slot === null ? t("thatTimeHasPassed") : slot !== null ? takes : hintByHand(shown, at, byDay, zone));
      return slot !== null || !isPast;
    },
    move: (entry, to, byDay) => {
      const { at, slot } = landing({ kind: "entry", entry }, to, byDay);
      if (at.getTime() !== Date.parse(entry.pill.at)) plan.mutate(planOf(entry, { at: at.toISOString(), slot: slot !== null }, zone));
    },
    receive: (draft, to, byDay) => {
      const { at, slot } = landing({ kind: "draft", postId: draft.id, title: draft.title }, to, byDay);
      if (slot === null) onPlace(draft, byDay ? localInstant(`${localDay(at, zone)}T09:00`, zone) : at);
      else plan.mutate({ postId: draft.id, accountId: slot.account_id, at: slot.at, zone, slot: true, was: null });
    },
  };
}
