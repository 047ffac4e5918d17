import { Badge, Tooltip } from "@mantine/core";
import { IconClock } from "@tabler/icons-react";

import { clock, ownZone, placeOf } from "./times";
import { useNow } from "./useNow";
import { t } from "../messages/ui";

/** Whose clock the times on a screen are, and what it says now. */
export function ZoneBadge({ zone }: { zone: string }) {
  const now = useNow();
  const same = zone === ownZone ? t("thatsYourTimeZone") : t("itsTimeWhereYouAre", { time: clock(now, ownZone) });
  return (
    <Tooltip label={t("allTimesAreInZoneSame", { zone, same })} events={{ hover: true, focus: true, touch: true }}>
      <Badge
        tabIndex={0}
        variant="default"
        size="lg"
        fw={500}
        leftSection={<IconClock size={14} aria-hidden />}
      >
        {placeOf(zone)} {clock(now, zone)}
      </Badge>
    </Tooltip>
  );
}
