import { List, Paper, Text } from "@mantine/core";

import type { Schemas } from "../../api/client";
import { moment, placeOf } from "../../ui/times";
import { t } from "../../messages/drafts";

const SHOWN = 5;

/** What a rule would do to the next 30 days, before it is saved. */
export function Plan({ plan, zone, message }: { plan: Schemas["PlanView"]; zone: string; message: string }) {
  const at = (instant: string) => moment(instant, zone);
  return (
    <Paper withBorder p="sm" component="section" aria-label={t("whatThisRuleWillDo")}>
      <Text size="sm" fw={600}>
        {t("saysNext30Days", { message })}
      </Text>
      <Text size="sm" role="status">
        {t("addedAddedMovedMovedRemovedRemoved", { added: plan.added.length, moved: plan.moved.length, removed: plan.removed.length, kept: plan.kept.length, unchanged: plan.unchanged })}
      </Text>
      <Lines title={t("added")} lines={plan.added.map((each) => at(each.at) + (each.mark === "none" ? "" : t("clocksChange")))} />
      <Lines title={t("moved")} lines={plan.moved.map(({ post, to }) => t("movedFromTo", { at: at(post.at), at2: at(to.at) }))} />
      <Lines title={t("removed")} lines={plan.removed.map((each) => at(each.at))} />
      <Lines title={t("kept")} lines={plan.kept.map((each) => `${at(each.at)}: ${each.because ?? t("edited")}`)} />
      <Lines title={t("otherAccounts")} lines={plan.retargeted.map(({ post, add, drop }) => t("atAddAddedDropDropped", { at: at(post.at), add: add.length, drop: drop.length }))} />
      <Text size="xs" c="dimmed" mt={4}>
        {t("allTimesArePlaceTime", { place: placeOf(zone) })}
      </Text>
    </Paper>
  );
}

function Lines({ title, lines }: { title: string; lines: string[] }) {
  if (lines.length === 0) return null;
  return (
    <>
      <Text size="sm" fw={600} mt={6}>
        {title}
      </Text>
      <List size="sm">
        {lines.slice(0, SHOWN).map((line) => (
          <List.Item key={line}>{line}</List.Item>
        ))}
        {lines.length > SHOWN && <List.Item>{t("andLinesMore", { lines: lines.length - SHOWN })}</List.Item>}
      </List>
    </>
  );
}
