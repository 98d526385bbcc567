// The vocabulary of the synthetic catalogue: word lists of atmospheric and environmental science, with invented places
// and people. Data only; `prose.ts` and the record makers join them.

/** One thing that is measured: its standard name, unit and the short variable name in files. */
export interface Quantity {
  readonly standardName: string;
  readonly units: string;
  readonly variable: string;
}

/** What can be measured. */
export const QUANTITIES: readonly Quantity[] = phrases(`
air_temperature K ta | air_pressure Pa ps | relative_humidity % hur | specific_humidity 1 hus | wind_speed m s-1 wspd
wind_from_direction degree wdir | eastward_wind m s-1 ua | northward_wind m s-1 va | upward_air_velocity m s-1 wa
precipitation_flux kg m-2 s-1 pr | rainfall_amount kg m-2 rain | snowfall_amount kg m-2 snow | lwe_thickness_of_snow m swe
surface_snow_thickness m snd | soil_temperature K tsl | soil_moisture_content kg m-2 mrso | sea_surface_temperature K tos
sea_water_salinity 1e-3 so | sea_surface_height_above_geoid m zos | sea_ice_area_fraction 1 siconc | sea_ice_thickness m sithick
mass_concentration_of_ozone_in_air kg m-3 o3 | mole_fraction_of_ozone_in_air 1e-9 o3mr | mole_fraction_of_methane_in_air 1e-9 ch4
mole_fraction_of_carbon_dioxide_in_air 1e-6 co2 | mole_fraction_of_carbon_monoxide_in_air 1e-9 co
mole_fraction_of_nitrogen_dioxide_in_air 1e-9 no2 | mole_fraction_of_sulfur_dioxide_in_air 1e-9 so2
mole_fraction_of_formaldehyde_in_air 1e-12 hcho | mass_concentration_of_pm2p5_ambient_aerosol_in_air ug m-3 pm25
mass_concentration_of_black_carbon_in_air ug m-3 bc | number_concentration_of_aerosol_particles_in_air cm-3 ntot
aerosol_angstrom_exponent 1 ang | atmosphere_optical_thickness_due_to_aerosol 1 aod | cloud_area_fraction 1 clt
cloud_base_altitude m cbh | cloud_liquid_water_content kg m-3 lwc | cloud_ice_water_content kg m-3 iwc
equivalent_reflectivity_factor dBZ zh | radial_velocity_of_scatterers m s-1 vr | backscatter_coefficient m-1 sr-1 beta
surface_downwelling_shortwave_flux W m-2 rsds | surface_downwelling_longwave_flux W m-2 rlds | toa_outgoing_longwave_flux W m-2 rlut
surface_upward_latent_heat_flux W m-2 hfls | surface_upward_sensible_heat_flux W m-2 hfss | atmosphere_boundary_layer_thickness m blh
tropopause_altitude m ztrop | geopotential_height m zg | land_surface_temperature K lst | leaf_area_index 1 lai
normalized_difference_vegetation_index 1 ndvi | surface_albedo 1 alb | river_discharge m3 s-1 dis | lake_water_temperature K tlake
ice_sheet_elevation_change m dhdt | glacier_mass_balance kg m-2 smb | lightning_flash_rate s-1 flash | solar_zenith_angle degree sza
`).map(quantityOf);

/** Kinds of instrument, as titles name them. */
export const INSTRUMENTS = phrases(`
Doppler lidar | aerosol lidar | wind profiler | cloud radar | weather radar | sun photometer | ceilometer | disdrometer
microwave radiometer | infrared spectrometer | ozone monitor | cavity ring-down analyser | mass spectrometer | sonic anemometer
automatic weather station | radiosonde | dropsonde | tipping bucket rain gauge | snow pillow | buoy sensor package
conductivity and temperature profiler | eddy covariance system | particle counter | nephelometer | pyranometer
limb sounder | nadir spectrometer | synthetic aperture radar | scanning radiometer | thermal imager | altimeter | cloud camera
`);

/** The catalogue's platform types with the noun that names one of each. */
export const PLATFORMS: readonly (readonly [type: string, noun: string])[] = [
  ['land_station', 'Observatory'],
  ['land_station', 'Field Station'],
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

/** First halves of invented place names. */
export const PLACE_STARTS = words(`
Kel Orm Bran Thorn Aller Skel Winter Hazel Marl Fen Grey Stan Carn Dun Ellis Fair Glen Holm Ister Kirk Lang Mor Nether
Over Pen Raven Strath Tarn Ulver Wether Ash Birk Cold Drum East Fal Gar Har Iver Lin
`);

/** Second halves of invented place names. */
export const PLACE_ENDS = words(`
march stead field mere ridge burgh ness combe holt wick dale ford gate heath moor port shaw thwaite tor vik water wold
beck cliff den firth garth hurst lea stow
`);

/** What a project does. */
export const PROJECT_ACTIVITIES = phrases(`
Long-term Monitoring | Intensive Observation | Coordinated Airborne Study | Coupled Modelling | Reanalysis | Intercomparison
Process Study | Satellite Validation | Regional Forecasting | Climate Projection | Network Calibration | Historical Recovery
`);

/** What a project is about. */
export const PROJECT_TOPICS = phrases(`
the Boundary Layer | Tropical Convection | Stratospheric Ozone | Urban Air Quality | Polar Clouds | Aerosol and Radiation
Land Surface Exchange | Coastal Storms | Mountain Snow | Methane Sources | Ocean Heat Uptake | Saharan Dust | River Floods
Forest Carbon | Sea Ice Thickness | Volcanic Plumes | Lightning and Thunderstorms | Rainfall Extremes | Lake Ecosystems
`);

/** Discovery keywords; their place in the list is their id. */
export const DISCOVERY_KEYWORDS = phrases(`
DIF | GEMINI | INSPIRE | NDGO0001 | NDGO0003 | NDGO0004 | NDGO0005 | PASDC1 | TOPIC-ATMOS | TOPIC-OCEAN | TOPIC-LAND | TOPIC-ICE | MODEL
SATELLITE | AIRBORNE | GROUND | CLIMATE | AIR-QUALITY | HYDROLOGY | ECOLOGY | EO | REANALYSIS | CAMPAIGN | LONG-TERM
`);

/** Free keywords. */
export const KEYWORDS = phrases(`
aerosol | atmosphere | boundary layer | carbon cycle | climate | cloud | convection | dust | emissions | flood | forest | greenhouse gas
heat flux | humidity | hydrology | ice | land surface | lidar | model output | ocean | ozone | radar | radiation | rainfall | satellite
snow | soil moisture | temperature | trace gas | turbulence | visibility | wind | Antarctica | Arctic | tropics | level 1b | level 2 | level 3
`);

/** Given names. */
export const FIRST_NAMES = words(`
Ada Björn Chidi Dolores Emre Fatima Gwen Hiroshi Ingrid João Katarzyna Lars Mei Nadia Olu Priya Quentin Ruth Søren Tomás
Una Vikram Wanda Xiang Yusuf Zoë Élise Íñigo
`);

/** Family names. */
export const LAST_NAMES = words(`
Abara Bergström Castellano Demir Eriksen Fairweather Goldacre Hallett Ivanova Jørgensen Kowalczyk Lindqvist Müller Nakamura
Okafor Pemberton Quist Rasmussen Szabó Tanaka Underhill Vasquez Whitlock Yamada Zielińska O'Dowd Núñez Đorđević
`);

/** Kinds of organisation. */
export const ORGANISATIONS = phrases(`
University | Research Centre | Weather Service | Polar Institute | Data Archive | Space Laboratory | Hydrological Survey
`);

/** File formats of results. */
export const FILE_FORMATS = phrases(`
NetCDF | CF-compliant NetCDF | Comma separated text | NASA Ames | HDF5 | GRIB | GeoTIFF | PP
`);

/** Topic categories of ISO 19115 that fit the domain. */
export const TOPIC_CATEGORIES = words(`
biota boundaries climatologyMeteorologyAtmosphere economy elevation environment farming geoscientificInformation health
imageryBaseMapsEarthCover inlandWaters location oceans society structure
`);

/** INSPIRE theme names that fit the domain. */
export const INSPIRE_THEMES = phrases(`
Atmospheric conditions | Meteorological geographical features | Oceanographic geographical features | Land cover | Hydrography
Environmental monitoring facilities | Natural risk zones | Habitats and biotopes | Elevation | Sea regions
`);

/** Words on white space. */
function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** Phrases between bars or line ends. */
function phrases(text: string): readonly string[] {
  return text.trim().split(/\s*[|\n]\s*/);
}

/** A line `standard_name units... variable`; the units may hold blanks. */
function quantityOf(line: string): Quantity {
  const parts = line.split(' ');
  return { standardName: parts[0]!, units: parts.slice(1, -1).join(' '), variable: parts.at(-1)! };
}
