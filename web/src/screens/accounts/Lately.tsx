import { Skeleton, Stack, Table, Text, Title } from "@mantine/core";
import { lazy, Suspense } from "react";

import type { Account } from "../../api/accounts";
import type { Schemas } from "../../api/client";
import { Fetched } from "../../ui/Fetched";
import { localDay, longDay } from "../../ui/times";
import { useNow } from "../../ui/useNow";
import { byDay, byHour } from "./fourWeeks";
import { useAccountUse } from "./useAccountUse";
import { t } from "../../messages/accounts";

const BarChart = lazy(() => import("../../ui/BarChart"));

/** What the account sent in the last four weeks: charts for the eye, a sentence and a table for everybody. */
export function Lately({ account }: { account: Account }) {
  const use = useAccountUse(account.id);
  return (
    <Fetched query={use} rows={4}>
      {(found) => (found.days.length === 0 ? <Text size="sm">{t("nothingSentInTheLastFour")}</Text> : <Charts use={found} />)}
    </Fetched>
  );
}

function Charts({ use }: { use: Schemas["AccountUseView"] }) {
  const today = localDay(useNow(60_000), use.zone);
  const [days, hours] = [byDay(use, today), byHour(use)];
  return (
    <Stack>
      <Title order={3} size="h5">
        {t("byDayZone", { zone: use.zone })}
      </Title>
      <Suspense fallback={<Skeleton height={180} />}>
        <BarChart
          message={days.message}
          places={days.places}
          marks={days.marks}
          kinds={[
            { name: t("sent"), colour: "color-indigo-filled", values: days.sent },
            { name: t("rejected"), colour: "color-orange-filled", values: days.refused },
          ]}
        />
      </Suspense>
      <Title order={3} size="h5">
        {t("byHourOfTheWeekZone", { zone: use.zone })}
      </Title>
      <Suspense fallback={<Skeleton height={180} />}>
        <BarChart message={hours.message} places={hours.places} marks={hours.marks} kinds={[{ name: t("sent"), colour: "color-indigo-filled", values: hours.sent }]} />
      </Suspense>
      <Text size="sm">{hours.message}.</Text>
      <Table>
        <Table.Caption>{t("byDay")}</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("day")}</Table.Th>
            <Table.Th>{t("sent")}</Table.Th>
            <Table.Th>{t("rejected")}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {use.days.toReversed().map((day) => (
            <Table.Tr key={day.day}>
              <Table.Td>{longDay(day.day)}</Table.Td>
              <Table.Td>{day.sent}</Table.Td>
              <Table.Td>{day.refused}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  );
}
