// The vocabulary of the synthetic catalogue: seas, islands and countries with their boxes, quantities, instruments,
// invented people, and texts and numbers that are difficult to transport. Data only.

/** A place and its box in degrees. If its west is greater than its east, it crosses the date line. */
export interface Place {
  readonly name: string;
  readonly box: readonly [west: number, south: number, east: number, north: number];
}

/** A measured quantity: its standard name, its unit and its variable name in files. */
export interface Quantity {
  readonly standardName: string;
  readonly units: string;
  readonly variable: string;
}

/** A field of research: topics of projects, instruments and quantities. */
export interface Domain {
  readonly topics: readonly string[];
  readonly instruments: readonly string[];
  readonly quantities: readonly Quantity[];
}

/** Places on all continents and oceans. The first is the place of the story, see `STORY` in `world.ts`. */
export const PLACES: readonly Place[] = splitPhrases(`
Iceland -25 63 -13 67 | Greenland -73 60 -12 84 | Svalbard 10 76 34 81 | the Barents Sea 16 68 60 80 | Lapland 18 66 32 70
the Norwegian Sea -10 62 16 74 | the Baltic Sea 9 53 30 66 | the North Sea -4 51 9 61 | Scotland -8 54 -1 61 | Ireland -11 51 -5 56
Wales -6 51 -2 54 | the English Channel -6 48 2 51 | Brittany -5 47 -1 49 | the Bay of Biscay -10 43 -1 48 | the Alps 5 44 16 48
Portugal -10 37 -6 42 | the Azores -32 36 -24 40 | the Canary Islands -19 27 -13 30 | Cape Verde -26 14 -22 18 | Sicily 12 36 16 39
Cyprus 32 34 35 36 | Crete 23 34 27 36 | the Black Sea 27 40 42 47 | the Caspian Sea 46 36 55 47 | the Sahara -17 18 35 32
the Sahel -17 12 36 18 | Ghana -4 4 2 12 | the Congo Basin 12 -8 31 6 | Kenya 33 -5 42 6 | Lake Victoria 31 -3 35 1 | Namibia 11 -29 25 -16
the Arabian Sea 50 5 77 25 | the Red Sea 32 12 44 30 | India 68 7 97 36 | the Bay of Bengal 79 5 95 23 | the Himalayas 73 26 97 36
Borneo 108 -5 120 8 | Java 105 -9 115 -5 | the South China Sea 105 2 121 23 | Japan 129 30 146 46 | the Sea of Okhotsk 135 44 163 62
Mongolia 87 41 120 53 | Lake Baikal 103 51 110 56 | Siberia 60 55 140 73 | Tasmania 144 -44 149 -39 | the Coral Sea 145 -25 165 -10
New Zealand 166 -48 179 -34 | Fiji 176 -20 -178 -15 | the Chatham Islands 176 -45 -175 -43 | the Bering Sea 162 51 -157 66
the Chukchi Sea 172 66 -156 73 | the Aleutian Islands 170 51 -160 56 | the Ross Sea 160 -85 -150 -70 | Hawaii -161 18 -154 23
Alaska -168 54 -130 72 | Vancouver Island -129 48 -123 51 | the Great Lakes -93 41 -76 49 | Newfoundland -60 46 -52 52
the Sargasso Sea -70 22 -40 37 | Cuba -85 19 -74 24 | the Gulf of Mexico -98 18 -81 31 | the Amazon Basin -79 -15 -48 3
the Atacama Desert -71 -28 -67 -18 | Patagonia -76 -55 -62 -39 | the Falkland Islands -62 -53 -57 -51 | South Georgia -39 -56 -35 -53
the Weddell Sea -62 -78 -15 -62 | Dronning Maud Land -20 -85 45 -69 | the Southern Ocean -180 -65 180 -45
`).map(parsePlace);

/** The box of global data sets. */
export const GLOBE: Place = { name: 'the whole world', box: [-180, -90, 180, 90] };

/**
 * The fields of research: a line of topics, a line of instruments, then quantities. `STORY` in world.ts uses the first
 * field.
 */
export const DOMAINS: readonly Domain[] = `
Land Surface Exchange | Mountain Snow | Forest Carbon | River Floods | Lake Ecosystems
soil moisture probe | eddy covariance system | tipping bucket rain gauge | snow pillow | synthetic aperture radar | thermal imager
soil_moisture_content kg m-2 mrso | soil_temperature K tsl | land_surface_temperature K lst | leaf_area_index 1 lai
normalized_difference_vegetation_index 1 ndvi | surface_albedo 1 alb | river_discharge m3 s-1 dis | lake_water_temperature K tlake
surface_snow_thickness m snd | lwe_thickness_of_snow m swe | surface_upward_latent_heat_flux W m-2 hfls | surface_upward_sensible_heat_flux W m-2 hfss

the Boundary Layer | Tropical Convection | Coastal Storms | Rainfall Extremes | Lightning and Thunderstorms
automatic weather station | radiosonde | dropsonde | wind profiler | sonic anemometer | weather radar | Doppler lidar | disdrometer
air_temperature K ta | air_pressure Pa ps | relative_humidity % hur | specific_humidity 1 hus | wind_speed m s-1 wspd
wind_from_direction degree wdir | eastward_wind m s-1 ua | northward_wind m s-1 va | upward_air_velocity m s-1 wa
precipitation_flux kg m-2 s-1 pr | rainfall_amount kg m-2 rain | snowfall_amount kg m-2 snow | lightning_flash_rate s-1 flash
atmosphere_boundary_layer_thickness m blh | tropopause_altitude m ztrop | geopotential_height m zg

Ocean Heat Uptake | Sea Ice Thickness | Coastal Circulation
conductivity and temperature profiler | buoy sensor package | altimeter | scanning radiometer
sea_surface_temperature K tos | sea_water_salinity 1e-3 so | sea_surface_height_above_geoid m zos | sea_ice_area_fraction 1 siconc
sea_ice_thickness m sithick | ice_sheet_elevation_change m dhdt | glacier_mass_balance kg m-2 smb

Stratospheric Ozone | Urban Air Quality | Methane Sources | Volcanic Plumes
ozone monitor | cavity ring-down analyser | mass spectrometer | infrared spectrometer | limb sounder | nadir spectrometer
mass_concentration_of_ozone_in_air kg m-3 o3 | mole_fraction_of_ozone_in_air 1e-9 o3mr | mole_fraction_of_methane_in_air 1e-9 ch4
mole_fraction_of_carbon_dioxide_in_air 1e-6 co2 | mole_fraction_of_carbon_monoxide_in_air 1e-9 co
mole_fraction_of_nitrogen_dioxide_in_air 1e-9 no2 | mole_fraction_of_sulfur_dioxide_in_air 1e-9 so2
mole_fraction_of_formaldehyde_in_air 1e-12 hcho

Saharan Dust | Aerosol and Radiation | Polar Clouds
sun photometer | aerosol lidar | ceilometer | cloud radar | particle counter | nephelometer | pyranometer | microwave radiometer | cloud camera
mass_concentration_of_pm2p5_ambient_aerosol_in_air ug m-3 pm25 | mass_concentration_of_black_carbon_in_air ug m-3 bc
number_concentration_of_aerosol_particles_in_air cm-3 ntot | aerosol_angstrom_exponent 1 ang
atmosphere_optical_thickness_due_to_aerosol 1 aod | cloud_area_fraction 1 clt | cloud_base_altitude m cbh
cloud_liquid_water_content kg m-3 lwc | cloud_ice_water_content kg m-3 iwc | equivalent_reflectivity_factor dBZ zh
radial_velocity_of_scatterers m s-1 vr | backscatter_coefficient m-1 sr-1 beta | surface_downwelling_shortwave_flux W m-2 rsds
surface_downwelling_longwave_flux W m-2 rlds | toa_outgoing_longwave_flux W m-2 rlut | solar_zenith_angle degree sza
`
  .trim()
  .split('\n\n')
  .map(parseDomain);

/** All quantities. `STORY` in world.ts uses the first one. */
export const QUANTITIES: readonly Quantity[] = DOMAINS.flatMap(({ quantities }) => quantities);

/** All kinds of instruments, as in titles. `STORY` in world.ts uses the first one. */
export const INSTRUMENTS: readonly string[] = DOMAINS.flatMap(({ instruments }) => instruments);

/**
 * The platform types of the catalogue, each with a noun for such a platform. `STORY` in world.ts uses the first one.
 */
export const PLATFORMS: readonly (readonly [type: string, noun: string])[] = [
  ['land_station', 'Field Station'],
  ['land_station', 'Observatory'],
  ['aircraft', 'Research Aircraft'],
  ['satellite', 'Satellite'],
  ['ship', 'Research Ship'],
  ['balloon', 'Balloon Flight'],
  ['computer', 'Computing Cluster'],
  ['mooring', 'Ocean Mooring'],
  ['moving_platform', 'Mobile Laboratory'],
  ['stationary_platform', 'Mast'],
  ['station_group', 'Station Network'],
  ['uas', 'Uncrewed Aircraft'],
];

export const PROJECT_ACTIVITIES = splitPhrases(`
Long-term Monitoring | Intensive Observation | Coordinated Airborne Study | Coupled Modelling | Reanalysis | Intercomparison
Process Study | Satellite Validation | Regional Forecasting | Climate Projection | Network Calibration | Historical Recovery
`);

export const LICENCE_CLASSES = splitWords('personal academic policy commercial unstated any');

/** Discovery keywords. Their position in the list gives their id. */
export const DISCOVERY_KEYWORDS = splitPhrases(`
DIF | GEMINI | INSPIRE | NDGO0001 | NDGO0003 | NDGO0004 | NDGO0005 | PASDC1 | TOPIC-ATMOS | TOPIC-OCEAN | TOPIC-LAND | TOPIC-ICE | MODEL
SATELLITE | AIRBORNE | GROUND | CLIMATE | AIR-QUALITY | HYDROLOGY | ECOLOGY | EO | REANALYSIS | CAMPAIGN | LONG-TERM
`);

export const KEYWORDS = splitPhrases(`
aerosol | atmosphere | boundary layer | carbon cycle | climate | cloud | convection | dust | emissions | flood | forest | greenhouse gas
heat flux | humidity | hydrology | ice | land surface | lidar | model output | ocean | ozone | radar | radiation | rainfall | satellite
snow | soil moisture | temperature | trace gas | turbulence | visibility | wind | Antarctica | Arctic | tropics | level 1b | level 2 | level 3
`);

export const FIRST_NAMES = splitWords(`
Ada Björn Chidi Dolores Emre Fatima Gwen Hiroshi Ingrid João Katarzyna Lars Mei Nadia Olu Priya Quentin Ruth Søren Tomás
Una Vikram Wanda Xiang Yusuf Zoë Élise Íñigo
`);

export const LAST_NAMES = splitWords(`
Abara Bergström Castellano Demir Eriksen Fairweather Goldacre Hallett Ivanova Jørgensen Kowalczyk Lindqvist Müller Nakamura
Okafor Pemberton Quist Rasmussen Szabó Tanaka Underhill Vasquez Whitlock Yamada Zielińska O'Dowd Núñez Đorđević
`);

/** Parts of the names of invented organisations. */
export const ORGANISATION_NAMES = splitWords(`
Aldermoor Brightwater Corvane Dunmarrow Eastvale Fernholt Greywick Harrowgate Ironbeck Juniper Kestrel Larkfield
`);
export const ORGANISATION_KINDS = splitPhrases(`
University | Research Centre | Weather Service | Polar Institute | Data Archive | Space Laboratory | Hydrological Survey
`);

export const FILE_FORMATS = splitPhrases(`
NetCDF | CF-compliant NetCDF | Comma separated text | NASA Ames | HDF5 | GRIB | GeoTIFF | PP
`);

/** Topic categories of ISO 19115 that fit the domain. */
export const TOPIC_CATEGORIES = splitWords(`
biota boundaries climatologyMeteorologyAtmosphere economy elevation environment farming geoscientificInformation health
imageryBaseMapsEarthCover inlandWaters location oceans society structure
`);

/** INSPIRE theme names that fit the domain. */
export const INSPIRE_THEMES = splitPhrases(`
Atmospheric conditions | Meteorological geographical features | Oceanographic geographical features | Land cover | Hydrography
Environmental monitoring facilities | Natural risk zones | Habitats and biotopes | Elevation | Sea regions
`);

/**
 * Unusual texts, all of which have caused errors in real catalogues. Escapes are used for characters that an editor
 * would hide.
 */
export const EDGE_TEXTS: readonly string[] = [
  'Ångström exponent, naïve café, œuvre, ß and ẞ',
  'A\u030angstro\u0308m with combining marks, e\u0301 and a\u0323\u0302',
  '大気エアロゾル観測, 气溶胶光学厚度 and 관측 자료',
  'قياسات الغلاف الجوي and תצפיות',
  'Beyond the BMP: 🌡️ 🛰️ 👩🏽\u200d🔬 𝛼 𠜎',
  'line one\nline two\r\nline three\rline four',
  '\ttabs\tbetween\twords\t',
  'said "calibrated", \'raw\' and “corrected”',
  'C:\\instrument\\new\\u0041 and a final backslash \\',
  '',
  'before\u2028line separator, paragraph\u2029separator',
  'controls \u0001 \b \f \u000b \u001b \u001f between words',
  'DEL \u007f, C1 \u0085 \u009f, no-break \u00a0, soft\u00adhyphen, zero\u200bwidth, mark \ufeff',
  '<p class="note">Markup &amp; <a href="https://example.org/?a=1&b=2">a link</a><br/></p>',
  'percent %41 %zz + plus & ampersand = equals , comma ; hash # question ?',
  '  blanks before, double  between and after  ',
  'case folds: İstanbul, ﬁeld, Ǆ ǅ ǆ, ΣΊΣΥΦΟΣ Σίσυφος, K (Kelvin sign)',
  'noncharacter \uffff and the last code point \u{10ffff}',
  '{braces} [brackets] ${dollar} $1 $& `ticks` null true 1e5',
  '__proto__',
];

/** Number tokens of volumes that a double cannot represent, or only just. They are served as written. */
export const HUGE_INTEGERS: readonly string[] = [
  '9007199254740991',
  '9007199254740993',
  '9223372036854775807',
  '18446744073709551617',
];

export const MIGRATION_KEYS = splitWords(`
observation.content.update observation.content.contact observation.content.links observation.content.citation
observation.content.introduction observation.content.all Instrument.content.update Instrument.content.contact
Instrument.content.citation Instrument.content.all observation_collection.content.citation
observation_collection.citation.publication_date observation_collection.citation.revision_date
observation_collection.legacy2_citation legacy2.provider legacy2.spatial_resolution legacy2.vertical_extent
project.legacy2_activity_subtype
`);

/** Splits at white space. */
function splitWords(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** Splits at bars and line ends. */
function splitPhrases(text: string): readonly string[] {
  return text.trim().split(/\s*[|\n]\s*/);
}

/** `Name west south east north`. */
function parsePlace(line: string): Place {
  const parts = line.split(' ');
  const [west, south, east, north] = parts.slice(-4).map(Number);
  return { name: parts.slice(0, -4).join(' '), box: [west!, south!, east!, north!] };
}

/** `standard_name units... variable`; the units may contain blanks. */
function parseQuantity(line: string): Quantity {
  const parts = line.split(' ');
  return { standardName: parts[0]!, units: parts.slice(1, -1).join(' '), variable: parts.at(-1)! };
}

function parseDomain(text: string): Domain {
  const [topics, instruments, ...quantities] = text.split('\n');
  return {
    topics: splitPhrases(topics!),
    instruments: splitPhrases(instruments!),
    quantities: splitPhrases(quantities.join('\n')).map(parseQuantity),
  };
}
