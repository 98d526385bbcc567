// The words of active filters. Linked records are labelled by their titles or names.
import { describe, expect, test } from 'vitest';
import { describeFilter } from '../../../../engine/query/filterWords.ts';
import { makeLabelReader } from '../../../../engine/query/shown.ts';
import { indexesOf } from '../../../support/index.ts';

const url = (collection: string, id: number): string => `{base_url}/api/v3/${collection}/${id}/?format=api`;
const OBSERVATIONS = indexesOf({
  observations: [
    {
      ob_id: 1,
      title: 'Flux',
      status: 'completed',
      publicationState: 'citable',
      dataPublishedTime: '2003-05-01T00:00:00Z',
      nonGeographicFlag: false,
      phenomena: [],
      projects: [url('projects', 7)],
      responsiblepartyinfo_set: [],
      procedureAcquisition: url('acquisitions', 4),
      timePeriod: url('times', 5),
      discoveryKeywords: [{ ob_id: 3, name: 'soil' }],
    },
  ],
  projects: Array.from({ length: 9 }, (_, i) => ({ ob_id: i, title: i === 7 ? 'Ulvercliff' : `Project ${i}` })),
  acquisitions: [],
  times: [{ ob_id: 5, startTime: '2003-01-01T00:00:00Z', endTime: null }],
})('observations');

function phrase(key: string, value: string): string | undefined {
  const words = describeFilter(OBSERVATIONS, [key, value], (to, row) => makeLabelReader(to)(row));
  return words && [words.label, words.comparison, words.value].filter(Boolean).join(' ');
}

describe('a filter in words', () => {
  test.each([
    ['title', 'flux', 'Title is flux'],
    ['title__contains', 'flux', 'Title contains flux'],
    ['title__icontains!', 'flux', 'Title does not contain flux'],
    ['title__istartswith!', 'flux', 'Title does not start with flux'],
    ['title__iregex!', '^f', 'Title does not match ^f'],
    ['title', ' ', 'Title is empty'],
    ['publicationState__in', 'published,citable', 'Publication state is published or citable'],
    ['publicationState__in!', 'old,removed', 'Publication state is not old or removed'],
    ['ob_id__in', '1,2,3,4,5,6,7', 'Id is 1, 2, 3, 4, 5 or 2 more'],
    ['nonGeographicFlag', 'true', 'Without a place is true'],
    ['dataPublishedTime__gte', '2003-01-01', 'Data published is on or after 2003-01-01'],
    ['dataPublishedTime__lte', '2003-12-31T23:59:59.999999', 'Data published is on or before 2003-12-31'],
    ['dataPublishedTime__lt!', '2003-12-31', 'Data published is not before 2003-12-31'],
    [
      'dataPublishedTime__range',
      '2003-01-01,2003-12-31T23:59:59.999999',
      'Data published is between 2003-01-01 and 2003-12-31',
    ],
    ['dataPublishedTime__year', '2003', 'Data published is in 2003'],
    ['dataPublishedTime__date', '2003-05-01', 'Data published is on 2003-05-01'],
    ['dataPublishedTime__month!', '5', 'Data published does not have month 5'],
    ['dataPublishedTime__isnull', 'true', 'Data published is missing'],
    ['dataPublishedTime__isnull', 'False', 'Data published is present'],
    ['ob_id__gt', '5', 'Id is greater than 5'],
    ['projects__title__icontains', 'cliff', 'Projects › Title contains cliff'],
    ['timePeriod__startTime__year', '2003', 'Period › Start is in 2003'],
    ['discoveryKeywords__name', 'soil', 'Discovery keywords › Keyword is soil'],
    ['discoveryKeywords', '3', 'Discovery keywords is 3'],
    ['search', 'soil ice', 'Text contains soil ice'],
    ['bbox', '-25,60,-10,68', 'Area overlaps -25,60,-10,68'],
    ['datetime', '2003', 'Period overlaps 2003'],
  ])('says %s=%s', (key, value, words) => {
    expect(phrase(key, value)).toBe(words);
  });

  test.each([
    ['projects', '7', 'Project Ulvercliff'],
    ['projects!', '7', 'Project is not Ulvercliff'],
    ['projects__in', '7, 8', 'Project Ulvercliff or Project 8'],
    ['projects', '700', 'Project 700'],
    ['timePeriod', '5', 'Period 2003-01-01T00:00:00Z'],
    ['procedureAcquisition', '4', 'Acquisition 4'],
    ['projects', 'x', 'Project x'],
    ['projects__isnull', 'true', 'Projects is missing'],
  ])('names the record of %s=%s', (key, value, words) => {
    expect(phrase(key, value)).toBe(words);
  });

  test.each(['nothing', 'title__foo', 'limit', 'ordering', '__proto__'])('has no words for %s', (key) => {
    expect(phrase(key, '1')).toBeUndefined();
  });

  test('labels only the records that it names', () => {
    let labels = 0;
    const ids = Array.from({ length: 5000 }, (_, i) => i % 9).join(',');
    const words = describeFilter(OBSERVATIONS, ['projects__in', ids], () => `label ${(labels += 1)}`);
    expect([labels, words?.value]).toEqual([5, 'label 1, label 2, label 3, label 4, label 5 or 4995 more']);
  });
});
