import { List, Paper, Text } from "@mantine/core";

import type { Schemas } from "../../api/client";
import { moment, placeOf } from "../../ui/times";
import { count } from "../../ui/words";

const SHOWN = 5;

/** What a rule would do to the next 30 days, before it is saved. */
export function Plan({ plan, zone, says }: { plan: Schemas["PlanView"]; zone: string; says: string }) {
  const at = (instant: string) => moment(instant, zone);
  return (
    <Paper withBorder p="sm" component="section" aria-label="What this rule does">
      <Text size="sm" fw={600}>
        {says}: in the next 30 days
      </Text>
      <Text size="sm" role="status">
        {plan.added.length} added · {plan.moved.length} moved · {plan.removed.length} removed · {plan.kept.length} kept because somebody touched them ·{" "}
        {plan.unchanged} unchanged
      </Text>
      <Lines title="Added" lines={plan.added.map((each) => at(each.at) + (each.mark === "none" ? "" : ` (clocks change: ${each.mark})`))} />
      <Lines title="Moved" lines={plan.moved.map(({ post, to }) => `${at(post.at)} to ${at(to.at)}`)} />
      <Lines title="Removed" lines={plan.removed.map((each) => at(each.at))} />
      <Lines title="Kept" lines={plan.kept.map((each) => `${at(each.at)}: ${each.because ?? "touched"}`)} />
      <Lines title="Other accounts" lines={plan.retargeted.map(({ post, add, drop }) => `${at(post.at)}: ${add.length} added, ${drop.length} dropped`)} />
      <Text size="xs" c="dimmed" mt={4}>
        All times {placeOf(zone)}.
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
        {lines.length > SHOWN && <List.Item>and {count(lines.length - SHOWN, "more", "more")}</List.Item>}
      </List>
    </>
  );
}
