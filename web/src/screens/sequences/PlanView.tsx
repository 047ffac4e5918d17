import { Alert, Button, Skeleton, Stack, Table, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { lazy, Suspense } from "react";

import { useAccounts } from "../../api/accounts";
import { useWorkspace } from "../../api/me";
import { longDay, momentThere } from "../../ui/times";
import { actionName } from "../accounts/limits";
import { bindingWords, chartsOf, type AccountPlan } from "./planChart";
import type { Plan } from "./useSequence";
import { t } from "../../messages/sequences";

const BarChart = lazy(() => import("../../ui/BarChart"));

/** When everybody would be written to: words first, then a chart for each account with its limit as a line. */
export function PlanView({ plan }: { plan: Plan }) {
  const zone = useWorkspace().data?.zone ?? "UTC";
  const bound = bindingWords(plan.binding);
  if (plan.messages === 0) return <Text size="sm">{t("nothingToPlan")}</Text>;
  return (
    <Stack>
      <Text size="sm" role="status">
        {t("planSentence", {
          messages: plan.messages,
          first: plan.first_at === null ? "–" : momentThere(plan.first_at, zone),
          last: plan.last_at === null ? "–" : momentThere(plan.last_at, zone),
        })}{" "}
        {plan.finish_on !== null && t("withFollowUpsUntil", { day: longDay(plan.finish_on) })} {bound}
      </Text>
      {plan.without_time > 0 && (
        <Alert color="red" role="alert">
          {t("noTimeFor", { messages: plan.without_time })}
        </Alert>
      )}
      {plan.warnings.map(({ code, account_id, message }) => (
        <Alert key={`${code} ${account_id}`} color="yellow" role="status">
          {message}
        </Alert>
      ))}
      {chartsOf(plan.days).map((each) => (
        <AccountChart key={`${each.account_id} ${each.action}`} chart={each} />
      ))}
    </Stack>
  );
}

function AccountChart({ chart }: { chart: AccountPlan }) {
  const account = useAccounts().data?.find(({ id }) => id === chart.account_id);
  const [shown, { toggle }] = useDisclosure();
  return (
    <div>
      <Title order={3} size="h5" mb={4}>
        {account?.handle ?? t("aRemovedAccount")} · {actionName(chart.action)}
      </Title>
      <Suspense fallback={<Skeleton height={180} />}>
        <BarChart
          message={chart.message}
          places={chart.places}
          marks={chart.marks}
          kinds={[
            { name: t("others"), colour: "color-gray-5", values: chart.others },
            { name: t("thisSequence"), colour: "color-indigo-filled", values: chart.planned },
            { name: t("followUps"), colour: "color-indigo-3", values: chart.expected },
          ]}
          cap={chart.caps.some((cap) => cap !== null) ? { name: t("limit"), values: chart.caps } : undefined}
        />
      </Suspense>
      <Text size="sm">{chart.message}</Text>
      <Button size="compact-sm" variant="subtle" aria-expanded={shown} onClick={toggle}>
        {shown ? t("hideTable") : t("showTable")}
      </Button>
      {shown && (
        <Table aria-label={chart.message}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t("day")}</Table.Th>
              <Table.Th>{t("thisSequence")}</Table.Th>
              <Table.Th>{t("followUps")}</Table.Th>
              <Table.Th>{t("others")}</Table.Th>
              <Table.Th>{t("limit")}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {chart.places.map((day, at) => (
              <Table.Tr key={day}>
                <Table.Td>{day}</Table.Td>
                <Table.Td>{chart.planned[at]}</Table.Td>
                <Table.Td>{chart.expected[at]}</Table.Td>
                <Table.Td>{chart.others[at]}</Table.Td>
                <Table.Td>{chart.caps[at] ?? "–"}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </div>
  );
}
