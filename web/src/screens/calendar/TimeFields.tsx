// A free slot of an account, or a time of one's own: choosing one lets go of the other.
import { Select, Text } from "@mantine/core";
import { useState } from "react";

import { localInstant } from "../../ui/localInstant";
import { moment, wallTime } from "../../ui/times";
import { WallTimeInput } from "../../ui/WallTimeInput";
import { isWhole } from "../../ui/wallTimes";
import type { Ghost, Time } from "./useCalendar";
import { t } from "../../messages/calendar";

interface Choice {
  slot: string | null;
  wall: string;
  /** What is chosen so far. */
  time: Time | null;
  choose: (next: { slot: string | null; wall: string }) => void;
}

/** The choice as a dialog holds it; `at` is the time of one's own that it begins with. */
export function useTime(zone: string, at: Date | null = null): Choice {
  const [{ slot, wall }, choose] = useState(() => ({ slot: null as string | null, wall: at === null ? "" : wallTime(at, zone) }));
  const own = !isWhole(wall) ? null : { at: localInstant(wall, zone).toISOString(), slot: false };
  return { slot, wall, time: own ?? (slot === null ? null : { at: slot, slot: true }), choose };
}

export function TimeFields(props: { choice: Choice; accountId: string | null; free: readonly Ghost[]; zone: string }) {
  const { choice, accountId, zone } = props;
  const slots = props.free.filter(({ account_id, kind }) => account_id === accountId && kind === "empty");
  return (
    <>
      <Select
        label={t("aFreeSlot")}
        placeholder={accountId === null ? t("chooseAnAccountFirst") : slots.length === 0 ? t("noFreeSlotsOnTheseDays") : t("choose")}
        searchable
        clearable
        disabled={slots.length === 0}
        value={choice.slot}
        onChange={(slot) => choice.choose({ slot, wall: slot === null ? choice.wall : "" })}
        data={slots.map(({ at }) => ({ value: at, label: moment(at, zone) }))}
      />
      <WallTimeInput label={t("orACustomTime")} zone={zone} value={choice.wall} onChange={(wall) => choice.choose({ slot: null, wall })} />
      {choice.time?.slot === false && (
        <Text size="sm" role="status">
          {t("betweenSlotsItGetsAFixed")}
        </Text>
      )}
    </>
  );
}
